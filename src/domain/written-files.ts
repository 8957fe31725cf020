/** The files that a run wrote, according to its records. Pure. */

import type { JournalRecord } from './journal-record.ts'

export interface WrittenFile {
  /** Relative to the workspace. */
  readonly path: string
  readonly turn: number
  readonly ts: number
  readonly tool: string
}

/** Tools that name the file that they write. */
export const FILE_WRITERS: ReadonlySet<string> = new Set(['create_file', 'edit_file'])

/**
 * Contract: pure; what a run has to show: the files that its tools named, then those that commands left in the
 * workspace, each once. Hidden and generated files of commands are left out: the task did not ask for them.
 */
export function resultFiles(named: Iterable<string>, left: readonly string[]): readonly string[] {
  const isGenerated = (path: string): boolean => path.split('/').some((part) => /^(\.|__pycache__$)/.test(part))
  return [...new Set([...named, ...left.filter((path) => !isGenerated(path))])]
}

/** Contract: pure; the writes of tools that name their file, in order. */
export function namedWrites(records: readonly JournalRecord[]): readonly WrittenFile[] {
  const intended = new Map<string, { readonly path: string; readonly tool: string }>()
  const written: WrittenFile[] = []
  for (const record of records) {
    if (record.kind === 'call_intended' && FILE_WRITERS.has(record.call.tool)) {
      const { path } = record.call.args as { readonly path?: unknown }
      if (typeof path === 'string') intended.set(`${record.turn} ${record.index}`, { path, tool: record.call.tool })
    }
    if (record.kind !== 'call_settled' || record.result.status !== 'ok') continue
    const call = intended.get(`${record.turn} ${record.index}`)
    if (call) written.push({ ...call, turn: record.turn, ts: record.ts })
  }
  return written
}
