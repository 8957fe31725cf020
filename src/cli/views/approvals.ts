/** Shows an approval with its complete arguments, escaped so that the terminal hides nothing. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { escapeLookalikes, style } from '../terminal.ts'

export function renderApproval(approval: CommandOutput<'approvals show'>): string {
  const { id, tool, args, effect, sinks, reason, origin, expires_at, status, answer_reason } = approval
  const line = (name: string, text: string): string => `  ${style('dim', `${name}:`)} ${text}`
  return [
    `${style('bold', id)}  ${status}${status === 'open' ? ` until ${expires_at}` : ''}`,
    line('tool', `${escapeLookalikes(tool)} (reach ${effect.reach}, recovery ${effect.recovery})`),
    line('arguments', escapeLookalikes(JSON.stringify(args, null, 2)).replaceAll('\n', '\n  ')),
    ...sinks.map(({ to, from, trusted }) =>
      line('destination', `${escapeLookalikes(to)}  (from ${escapeLookalikes(from)}${trusted ? '' : ', not trusted'})`),
    ),
    line('why', escapeLookalikes(reason)),
    line('requested by', `run ${origin.run_id}, step ${origin.step}`),
    ...(answer_reason === null ? [] : [line('answer', escapeLookalikes(answer_reason))]),
  ].join('\n')
}

export const renderApprovals = ({ items }: CommandOutput<'approvals list'>): string =>
  items.map(renderApproval).join('\n\n') || 'none'
