/** The folder of a call: the pid report of its shell, and its output. With it, a restarted runtime finds the call. */

import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errno } from './file-errors.ts'
import type { ProcessRow, ProcessTable } from './process-table.ts'

/** The folder's name is a readable prefix for people and a digest, which makes it unique on any file system. */
export function callFolder(callsDir: string, call: string): string {
  return join(callsDir, `${readableName(call)}-${sha256(call).slice(0, 32)}`)
}

export const readableName = (call: string): string => call.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60)

export const reportFile = (folder: string): string => join(folder, 'pid')
export const outputFile = (folder: string): string => join(folder, 'output')

/** Environment variables that mark a call's processes. The scope separates calls of two homes with the same name. */
export function callEnvironment(callsDir: string, call: string): Readonly<Record<string, string>> {
  return { TIRELESS_CALL: call, TIRELESS_CALL_SCOPE: sha256(callsDir).slice(0, 16) }
}

interface ShellReport {
  readonly boot: string
  readonly shell: Pick<ProcessRow, 'pid' | 'start'>
}

/** Contract: undefined if the report is missing or incomplete. */
export async function readReport(folder: string, table: ProcessTable): Promise<ShellReport | undefined> {
  const [boot, line, end] = (await readFile(reportFile(folder), 'utf8').catch(() => '')).split('\n')
  const shell = table.parse(line ?? '')
  return boot && shell && end === '' ? { boot, shell } : undefined
}

const HEAD_BYTES = 15_000
const TAIL_BYTES = 15_000

interface Excerpt {
  readonly text: string
  readonly dropped: number
}

/** Contract: the whole output or, if it is long, its head, a line that counts the dropped bytes, and its tail. */
export async function readExcerpt(output: FileHandle): Promise<Excerpt> {
  const { size } = await output.stat()
  if (size <= HEAD_BYTES + TAIL_BYTES) return { text: textOf(await readSlice(output, 0, size)), dropped: 0 }
  const head = await readSlice(output, 0, HEAD_BYTES)
  const tail = await readSlice(output, size - TAIL_BYTES, TAIL_BYTES)
  const kept = head.subarray(0, lastBoundary(head))
  const rest = tail.subarray(firstBoundary(tail))
  const dropped = size - kept.length - rest.length
  return { text: `${textOf(kept)}\n[… ${dropped} bytes dropped …]\n${textOf(rest)}`, dropped }
}

/** Contract: the output of a call, shortened; empty if there is none, or if its file is not a regular file. */
export async function readKeptOutput(folder: string): Promise<string> {
  try {
    await using output = await open(
      outputFile(folder),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    )
    return (await output.stat()).isFile() ? (await readExcerpt(output)).text : ''
  } catch (error) {
    if (errno(error) === undefined) throw error
    return ''
  }
}

async function readSlice(output: FileHandle, from: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await output.read(Buffer.alloc(length), 0, length, from)
  return buffer.subarray(0, bytesRead)
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** The index at which to cut `bytes`, so that no incomplete UTF-8 character (at most four bytes) is at the end. */
function lastBoundary(bytes: Buffer): number {
  let at = bytes.length - 1
  while (at > bytes.length - 4 && isContinuation(bytes[at])) at -= 1
  return (bytes[at] ?? 0) < 0x80 ? bytes.length : at
}

function firstBoundary(bytes: Buffer): number {
  let at = 0
  while (at < 3 && isContinuation(bytes[at])) at += 1
  return at
}

/** Replaces NUL characters: they are valid UTF-8, but not allowed in stored text. */
function textOf(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll('\0', '\ufffd')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
