/** An agent that was just created or changed: when it runs, where it lives, what to do next. */

interface SummarizedAgent {
  readonly agent_id: string
  readonly source: string
  readonly understood?: string | undefined
}

export function renderNewAgent({ agent_id, source, understood }: SummarizedAgent): string {
  return [
    `Created ${agent_id}: ${source}`,
    ...(understood === undefined ? [] : [understood]),
    `Change it: tireless agent edit ${agent_id}. Run it now: tireless schedule run agent:${agent_id}`,
  ].join('\n')
}

export const renderChangedAgent = ({ agent_id, source, understood }: SummarizedAgent): string =>
  [`Changed ${agent_id}: ${source}`, ...(understood === undefined ? [] : [understood])].join('\n')
