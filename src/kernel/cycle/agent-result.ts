/**
 * The result of one agent's dispatch in a cycle, from its row in the queue and its journal.
 * Must not know: the cycle.
 */

import { resolve } from 'node:path'
import type { AgentResult } from '../../domain/cycle.ts'
import type { Dispatch } from '../../domain/dispatch.ts'
import { type JournalRecord, recordsOfRun } from '../../domain/journal-record.ts'
import type { Json } from '../../domain/json.ts'
import { applyPatch } from '../../domain/json-patch.ts'
import { namedWrites } from '../../domain/written-files.ts'
import { autonomyFromState } from '../autonomy/autonomy.ts'
import { extractSummary } from '../autonomy/run-summary.ts'

/** `journal`: records of the whole session, or at least all of the run. `workspace`: the folder of the session. */
export function buildAgentResult(
  dispatch: Dispatch,
  journal: readonly JournalRecord[],
  workspace: string,
): AgentResult {
  const { agent_id, dispatch_id, session_id, status, wait, failure_class, result, error } = dispatch
  const records = recordsOfRun(journal, dispatch_id)
  const { attempts, state } = foldRun(records)
  const files = [...new Set(namedWrites(records).map(({ path }) => resolve(workspace, path)))]
  return {
    ...{ agent_id, dispatch_id, session_id },
    status: status === 'waiting' && wait?.kind === 'retry' ? 'running' : status,
    summary: extractSummary(result ?? error ?? wait?.reason ?? ''),
    failure_class: status === 'cancelled' ? 'cancelled' : failure_class,
    attempts,
    recovered_from: status === 'done' ? (autonomyFromState(state)?.first_failure ?? null) : null,
    ...(files.length === 0 ? {} : { files }),
  }
}

/** The number of attempts, and the last state of the behaviour. */
function foldRun(run: readonly JournalRecord[]): { readonly attempts: number; readonly state: Json } {
  let state: Json = null
  let attempts = 1
  for (const record of run) {
    if (record.kind === 'run_started') state = record.state ?? null
    if ('patch' in record && record.patch) state = applyPatch(state, record.patch)
    const next = record.kind === 'step_committed' ? record.next : undefined
    if (next?.kind === 'park' && next.feedback !== undefined && !next.pause) attempts += 1
  }
  return { attempts, state }
}
