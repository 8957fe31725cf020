/**
 * Files of a message: reads them within their limits, and puts them into the workspace of the session that gets the
 * message.
 * Must not know: how a channel gets a file, how files are written.
 * Invariants: content from outside lowers the label of the workspace before it is there (I12); a repeated message
 * writes the same files again.
 */

import { hash } from 'node:crypto'
import { asTirelessError, TirelessError } from '../../domain/error.ts'
import { UNTRUSTED_LABEL } from '../../domain/label.ts'
import type { Language } from '../../domain/language.ts'
import type { ReceivedFile } from '../../domain/message.ts'
import { distinctNames, safeFileName } from '../../domain/received-file-name.ts'
import { lowerWorkspaceLabel } from '../../engine/calls/shared-workspace.ts'
import type { Clock } from '../../ports/clock.ts'
import { withDeadline } from '../../ports/deadline.ts'
import type { ReceivedFiles } from '../../ports/received-files.ts'
import type { Store } from '../../ports/store.ts'
import type { Attachment, FilePlace } from './front-session.ts'

const MB = 1024 * 1024
const MAX_FILE_BYTES = 20 * MB
const MAX_FILES = 10
/** Of all files of a message. They are in memory until they are saved. */
const MAX_MESSAGE_BYTES = 60 * MB
/** Of all received files in a workspace. */
const MAX_WORKSPACE_BYTES = 1024 * MB
const READ_MS = 60_000
/** The folder for received files in a workspace. */
const INBOX = 'inbox'

export interface ReadFiles {
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array }[]
  readonly refused: readonly { readonly name: string; readonly why: string }[]
}

/** Contract: rejects if a file may be available later: then the message has to come again. */
export async function readFiles(
  clock: Clock,
  received: readonly ReceivedFile[],
  language: Language,
): Promise<ReadFiles> {
  const files: { name: string; bytes: Uint8Array }[] = []
  const refused: { name: string; why: string }[] = []
  let left = MAX_MESSAGE_BYTES
  for (const [at, file] of received.entries()) {
    const name = safeFileName(file.name)
    const limit = Math.min(MAX_FILE_BYTES, left)
    const bytes = at < MAX_FILES ? await readFile(clock, file, limit, language) : TEXTS[language].tooMany
    if (typeof bytes === 'string') refused.push({ name, why: bytes })
    else files.push({ name, bytes })
    left -= typeof bytes === 'string' ? 0 : bytes.length
  }
  const names = distinctNames(files.map(({ name }) => name))
  return { files: files.map(({ bytes }, at) => ({ name: names[at] ?? 'file', bytes })), refused }
}

/** Contract: the content, or why the file is refused. */
async function readFile(
  clock: Clock,
  file: ReceivedFile,
  limit: number,
  language: Language,
): Promise<Uint8Array | string> {
  try {
    const late = (): never => {
      throw new TirelessError('channel_unavailable', 'the file did not arrive in time')
    }
    const bytes: unknown = await withDeadline({ clock, ms: READ_MS }, (signal) => file.read(limit, signal), late)
    if (!(bytes instanceof Uint8Array)) return TEXTS[language].unreadable
    return bytes.length > limit ? TEXTS[language].tooLarge(limit / MB) : bytes
  } catch (thrown) {
    const error = asTirelessError(thrown)
    if (error.retry !== 'never') throw error
    return error.problem
  }
}

interface AttachDeps {
  readonly store: Store
  readonly receivedFiles: ReceivedFiles
}

interface MessageWithFiles extends ReadFiles {
  /** Identifies the message. */
  readonly key: string
  readonly text: string
  readonly language: Language
}

/** Contract: a function that saves the files in a workspace, and tells the session where they are. */
export function attachFiles(
  { store, receivedFiles }: AttachDeps,
  { key, text, files, refused, language }: MessageWithFiles,
): (to: FilePlace) => Promise<Attachment> {
  const texts = TEXTS[language]
  const folder = [INBOX, hash('sha256', key).slice(0, 8)]
  return async (to) => {
    const workspace = 'workspace' in to ? to.workspace : null
    const problems = [...refused]
    const saved: string[] = []
    const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0)
    const isFull = workspace !== null && (await receivedFiles.sizeOf(workspace, [INBOX])) + size > MAX_WORKSPACE_BYTES
    if (files.length > 0 && workspace !== null) await lowerWorkspaceLabel(store, workspace, UNTRUSTED_LABEL)
    for (const { name, bytes } of files)
      try {
        if (!('workspace' in to)) throw new TirelessError('path_refused', texts.elsewhere(to.host))
        if (isFull) throw new TirelessError('path_refused', texts.full)
        await receivedFiles.save(to.workspace, [...folder, name], bytes)
        saved.push([...folder, name].join('/'))
      } catch (thrown) {
        const error = asTirelessError(thrown)
        if (error.code !== 'path_refused') throw error
        problems.push({ name, why: error.problem })
      }
    const lines = [...saved.map((path) => `- ${path}`), ...problems.map(({ name, why }) => `- ${name}: ${why}`)]
    const note = problems.length === 0 ? {} : { note: describeRefused(problems, language) }
    return { text: [text, texts.files, ...lines].join('\n').trim(), files: saved, ...note }
  }
}

export const describeRefused = (refused: ReadFiles['refused'], language: Language): string =>
  [TEXTS[language].refused, ...refused.map(({ name, why }) => `- ${name}: ${why}`)].join('\n')

const TEXTS = {
  en: {
    files: '\nFiles that came with this message, in the workspace:',
    refused: 'These files were not accepted:',
    tooLarge: (most: number) => `larger than ${Math.floor(most)} MB`,
    tooMany: `a message may have at most ${MAX_FILES} files`,
    unreadable: 'it cannot be read',
    full: 'the folder for received files is full',
    elsewhere: (host: string) => `this conversation works on ${host}; send it to a process there, or put it there`,
  },
  zh: {
    files: '\n随消息收到的文件（在工作目录中）：',
    refused: '以下文件未被接收：',
    tooLarge: (most: number) => `超过 ${Math.floor(most)} MB`,
    tooMany: `一条消息最多 ${MAX_FILES} 个文件`,
    unreadable: '无法读取',
    full: '收件文件夹已满',
    elsewhere: (host: string) => `这个会话在 ${host} 上工作；请发给那里的进程，或把文件放到那里`,
  },
} as const satisfies Record<Language, object>
