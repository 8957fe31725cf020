/** Shows how a task ended: its result, or what it waits for and what to type. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { style } from '../terminal.ts'
import { renderApproval } from './approvals.ts'

type RunOutput = CommandOutput<'run'>

export function renderRun(output: RunOutput): string {
  const { answer, error, wait, status } = output
  if (answer !== null) return answer
  return wait ? renderParked(output, wait) : `${status}: ${error ?? 'no answer'}`
}

function renderParked({ approvals, session_id }: RunOutput, wait: NonNullable<RunOutput['wait']>): string {
  const parked = style('yellow', approvals.length === 0 ? `parked: ${wait.reason}` : 'parked: it needs your approval')
  const line = (what: string, command: string): string => `  ${style('dim', `${what}:`)} tireless ${command}`
  if (approvals.length > 0)
    return [
      parked,
      ...approvals.flatMap((approval) => [
        renderApproval(approval),
        line('to allow it', `approvals allow ${approval.id}`),
        line('to deny it', `approvals deny ${approval.id}`),
      ]),
      CONTINUES,
    ].join('\n')
  if (wait.kind === 'unknown')
    return [parked, line('to say what happened', `unknowns resolve ${wait.unknown_id} --as happened|not|recheck`)].join(
      '\n',
    )
  if (wait.kind === 'observation')
    return [parked, line('to answer', `send --session ${session_id} "…"`), CONTINUES].join('\n')
  return parked
}

const CONTINUES = 'Then it continues: at once while the kernel runs, otherwise with tireless start --until-idle'
