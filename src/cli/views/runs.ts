/** Shows what came of tasks: result, files and trace, or what they wait for and what to type. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { style } from '../terminal.ts'
import { renderApproval } from './approvals.ts'
import { formatTable } from './table.ts'

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

/** What came of each dispatch, then what its task was. */
export const renderQueue = ({ items }: CommandOutput<'queue list'>): string =>
  formatTable(items, ['dispatch_id', 'agent_id', 'status', 'outcome', 'title'])

export function renderDispatch(dispatch: CommandOutput<'queue show'>): string {
  const { dispatch_id, agent_id, session_id, status, title, result, error, wait, workspace, files } = dispatch
  return [
    `${style('bold', dispatch_id)}  ${status}  ${agent_id}`,
    ...detailLines({ files, dispatch_id }),
    ...(workspace === null ? [] : [detail('folder', workspace)]),
    detail('session', session_id),
    detail('task', title),
    ...[error, result ?? wait?.reason ?? null].flatMap((text) => (text === null ? [] : ['', text])),
  ].join('\n')
}

export function renderSession(session: CommandOutput<'sessions show'>): string {
  const { session_id, agent_id, status, workspace, created_at, unread, runs } = session
  return [
    `${style('bold', session_id)}  ${status}  ${agent_id}  since ${created_at}`,
    detail('folder', workspace),
    ...(unread.length === 0 ? [] : [detail('unread messages', String(unread.length))]),
    ...runs.flatMap(({ dispatch_id, status: state, title, outcome, files }) => [
      '',
      `${style('bold', dispatch_id)}  ${state}  ${title}`,
      ...(outcome === null ? [] : [`  ${outcome.replaceAll('\n', '\n  ')}`]),
      ...detailLines({ files, dispatch_id }),
    ]),
  ].join('\n')
}

const detailLines = ({ files, dispatch_id }: { files: readonly string[]; dispatch_id: string }): string[] => [
  ...files.map((file) => detail('wrote', file)),
  detail('trace', `tireless trace show ${dispatch_id}`),
]

const detail = (name: string, text: string): string => `  ${style('dim', `${name}:`)} ${text}`
