/**
 * What a run must have to show before its answer counts: the files that its task tells to write, and no failed last
 * write or message. Computed from the journal, so that a restart and a replay judge alike (decision 47).
 * Must not know: the workspace, the store. In doubt it expects nothing.
 */

import type { Call, CallResult } from '../../domain/decision.ts'
import { mayHaveWritten } from '../../domain/named-outputs.ts'
import type { Observation } from '../../domain/observation.ts'

export interface ExpectedResults {
  /** Files that the task tells to write and that no call of this run may have written yet. */
  readonly missing: Set<string>
  /** The run's last call, if it was to write a file or to send a message and failed. */
  failed: { readonly what: string; readonly why: string } | undefined
  /** Whether the run was told once. */
  isReminded: boolean
}

/** `outputs`: undefined in records of older programs, and for tasks of which nothing is expected. */
export const expectResults = (outputs: readonly string[] | undefined): ExpectedResults | undefined =>
  outputs && { missing: new Set(outputs), failed: undefined, isReminded: false }

export const isUnmet = ({ missing, failed }: ExpectedResults): boolean => missing.size > 0 || failed !== undefined

/** Tools whose call is the work itself. A failed look or command may be the very answer to a task. */
const WORK: ReadonlyMap<string, string> = new Map([
  ['create_file', 'path'],
  ['edit_file', 'path'],
  ['send_message', 'to'],
])

export function noteResult(
  expected: ExpectedResults,
  { tool, args }: Pick<Call, 'tool' | 'args'>,
  result: CallResult,
): void {
  if (result.status === 'ok') {
    for (const file of expected.missing) if (mayHaveWritten({ tool, args }, file)) expected.missing.delete(file)
    expected.failed = undefined
  }
  const key = WORK.get(tool)
  // A call that was denied, or waits for a person, did not fail.
  const isFailure = result.status === 'error' || result.status === 'timed_out'
  if (key === undefined || !isFailure || isHeld(result)) return
  const target = (args as Readonly<Record<string, unknown>> | null)?.[key]
  const what = typeof target === 'string' ? `${tool} ${target}` : tool
  expected.failed = { what, why: result.content }
}

const isHeld = ({ facts }: CallResult): boolean =>
  typeof facts === 'object' && facts !== null && 'held' in facts && facts.held === true

/** A person who writes during the run may have changed the task. */
export function noteInput(expected: ExpectedResults, input: readonly Observation[]): void {
  if (!input.some(({ type }) => type === 'user_message')) return
  expected.missing.clear()
  expected.failed = undefined
}
