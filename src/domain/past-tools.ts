/** Names of the tools that read what happened. Offered to behaviours and agents that list them. */

export const PAST_TOOLS = [
  ...(['past_work', 'past_spend', 'past_todos', 'open_matters', 'explain_run', 'file_history', 'list_agents'] as const),
] as const
export type PastTool = (typeof PAST_TOOLS)[number]
