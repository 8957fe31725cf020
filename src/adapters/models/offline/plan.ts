/** The offline model as a planner: everybody who is in the list goes, as many as may. It has no opinion on whom to leave out. Pure. */

import type { ModelRequest } from '../../../ports/model.ts'
import { taskOf } from './clauses.ts'

const LIMIT = /^At most (\d+) agents\.$/m
const LINE = /^- (\S+) \(priority -?\d+\): /gm

/** Contract: undefined where it is not asked for a plan. */
export function planOf({ tools, messages }: ModelRequest): string | undefined {
  const [asked, ...more] = messages
  if (tools.length > 0 || asked?.role !== 'user' || more.length > 0) return undefined
  const agents = taskOf(asked.text, () => false).data.find(({ label }) => label === 'AGENTS')
  const most = Number(LIMIT.exec(asked.text)?.[1] ?? 0)
  if (!agents || most === 0) return undefined
  const names = [...agents.text.matchAll(LINE)].map(([, name]) => name)
  return JSON.stringify(names.slice(0, most).map((agent_id) => ({ agent_id, dispatch: true, reason: 'it has news' })))
}
