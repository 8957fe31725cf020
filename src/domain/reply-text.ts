/** What the owner reads when a run of a conversation has ended: its answer, what went wrong, and the files. Pure. */

import { clipText } from './clean-summary.ts'
import { ERROR_CODES } from './error.ts'
import type { Language } from './language.ts'
import { dispatchEndOf, type FailureClass, type StopReason } from './stop-reason.ts'

/** The channel splits a long reply; one that is longer than this is cut. */
const MAX_REPLY = 60_000
const MAX_FILES = 20

interface EndedRun {
  readonly stop_reason: StopReason
  readonly failure_class?: FailureClass | undefined
  readonly answer?: string | undefined
  readonly error?: string | undefined
  /** Absolute paths of the files that the run created or changed. */
  readonly files: readonly string[]
}

/** Contract: Markdown; undefined if there is nothing to say. */
export function renderReply(run: EndedRun, language: Language): string | undefined {
  const { answer = '', error, files } = run
  const words = WORDS[language]
  const { status } = dispatchEndOf(run.stop_reason, run.failure_class)
  const opening = status === 'done' ? [] : [status === 'cancelled' ? words.cancelled : words.failed(error ?? '')]
  const parts = [...opening, ...(answer.trim() === '' ? [] : [answer.trim()])]
  if (parts.length === 0) return undefined
  const links = files.slice(0, MAX_FILES).map((path) => `- [${fileName(path)}](${linkTarget(path)})`)
  const more = files.length > MAX_FILES ? [`- ${words.more(files.length - MAX_FILES)}`] : []
  const shown = clipText(parts.join('\n\n'), MAX_REPLY)
  return links.length === 0 ? shown : [shown, [`**${words.files}**`, ...links, ...more].join('\n')].join('\n\n')
}

/** Contract: one sentence about work that ended before it could say anything itself. */
export const renderUnstarted = (status: 'cancelled' | 'dead', title: string, language: Language): string =>
  WORDS[language].unstarted[status](title)

/** The code of an error is for programs, and what it says of an unusable answer is for the model. */
function sayError(error: string, language: Language): string {
  const [code = ''] = error.split(': ', 1)
  if (!Object.hasOwn(ERROR_CODES, code)) return error
  if (!UNUSABLE.has(code)) return error.slice(code.length + 2)
  return WORDS[language].unusable(Number(IN_A_ROW.exec(error)?.[1] ?? 1))
}

const UNUSABLE: ReadonlySet<string> = new Set(['decision_invalid', 'decision_empty'])
const IN_A_ROW = /\(after (\d+) failures in a row\)$/

const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

const linkTarget = (path: string): string => (/[\s()<>]/.test(path) ? `<${path.replaceAll(/[<>\n]/g, '')}>` : path)

const WORDS = {
  en: {
    failed: (error: string) => `**Not finished.** ${sayError(error, 'en')}`.trim(),
    unusable: (times: number) =>
      times === 1
        ? 'The model’s answer could not be used.'
        : `The model’s answers could not be used, ${times} times in a row.`,
    cancelled: '**Cancelled.**',
    unstarted: {
      cancelled: (title: string) => `**Cancelled** before it began: ${title}`,
      dead: (title: string) => `**Not finished**, because the program crashed several times in a row: ${title}`,
    },
    files: 'Files',
    more: (count: number) => `and ${count} more`,
  },
  zh: {
    failed: (error: string) => `**没有完成。** ${sayError(error, 'zh')}`.trim(),
    unusable: (times: number) => (times === 1 ? '模型的回答无法使用。' : `模型的回答连续 ${times} 次无法使用。`),
    cancelled: '**已取消。**',
    unstarted: {
      cancelled: (title: string) => `**已取消**，还没有开始：${title}`,
      dead: (title: string) => `**没有完成**，程序连续几次崩溃：${title}`,
    },
    files: '文件',
    more: (count: number) => `另有 ${count} 个`,
  },
} as const satisfies Record<Language, object>
