/** The offline model as planner: dispatches the listed agents in order, up to the limit. Pure. */

import type { ModelRequest } from '../../../ports/model.ts'
import { parseTask } from './clauses.ts'

const LIMIT = /^At most (\d+) agents\.$/m
const AGENT_LINE = /^- (\S+) \(priority -?\d+\): /gm

/** Contract: the plan as text; undefined if the request does not ask for a plan. */
export function planAgents({ tools, messages }: ModelRequest): string | undefined {
  const [request, ...more] = messages
  if (tools.length > 0 || request?.role !== 'user' || more.length > 0) return undefined
  const agents = parseTask(request.text, () => false).data.find(({ label }) => label === 'AGENTS')
  const limit = Number(LIMIT.exec(request.text)?.[1] ?? 0)
  if (!agents || limit === 0) return undefined
  const names = [...agents.text.matchAll(AGENT_LINE)].map(([, name]) => name)
  return JSON.stringify(
    names.slice(0, limit).map((agent_id) => ({ agent_id, dispatch: true, reason: 'it has changes' })),
  )
}
