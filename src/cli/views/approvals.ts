/** An approval with its complete arguments, escaped so that the terminal hides nothing. */

import { showExactly, style } from '../terminal.ts'

export interface ShownApproval {
  readonly id: string
  readonly tool: string
  readonly args: unknown
  readonly effect: { readonly reach: string; readonly recovery: string }
  readonly sinks: readonly { readonly to: string; readonly from: string; readonly trusted: boolean }[]
  readonly reason: string
  readonly origin: { readonly run_id: string; readonly step: number }
  readonly expires_at: string
  readonly status: string
  readonly answer_reason: string | null
}

export function approvalView(approval: ShownApproval): string {
  const { id, tool, args, effect, sinks, reason, origin, expires_at, status, answer_reason } = approval
  const line = (name: string, text: string): string => `  ${style('dim', `${name}:`)} ${text}`
  return [
    `${style('bold', id)}  ${status}${status === 'open' ? ` until ${expires_at}` : ''}`,
    line('tool', `${showExactly(tool)} (reach ${effect.reach}, recovery ${effect.recovery})`),
    line('arguments', showExactly(JSON.stringify(args, null, 2)).replaceAll('\n', '\n  ')),
    ...sinks.map(({ to, from, trusted }) =>
      line('destination', `${showExactly(to)}  (from ${showExactly(from)}${trusted ? '' : ', not trusted'})`),
    ),
    line('why', showExactly(reason)),
    line('requested by', `run ${origin.run_id}, step ${origin.step}`),
    ...(answer_reason === null ? [] : [line('answer', showExactly(answer_reason))]),
  ].join('\n')
}

export const approvalList = ({ items }: { readonly items: readonly ShownApproval[] }): string =>
  items.map(approvalView).join('\n\n') || 'none'
