/**
 * The hybrid planner: rules first, a model only for a choice. Agents without news are left out. If none is left, the
 * cycle is idle; a single agent is dispatched without a model; among several the model selects. If the model fails, all
 * of them are dispatched.
 * Must not know: how a model is called.
 */

import { dispatchPlan, idlePlan, type Plan, type Planner } from './planner.ts'
import { describeBackoff, isBackingOff, stagnationNote } from './stagnation-backoff.ts'
import { describeIdle, findAvailable, hasNews, planAgent } from './static.ts'

export function hybridPlanner(llm: Planner): Planner {
  return {
    async plan(occasion, signal): Promise<Plan> {
      const free = findAvailable(occasion)
      const notes = free.flatMap((candidate) => stagnationNote(candidate, !candidate.due) ?? [])
      if (free.length === 0) return idlePlan(describeIdle(occasion), notes)
      const wanted = free.filter((candidate) => candidate.due || hasNews(candidate))
      const ready = wanted.filter((candidate) => !isBackingOff(candidate, occasion))
      if (ready.length === 0)
        return idlePlan(wanted.length === 0 ? 'nothing new' : describeBackoff(wanted, occasion), notes)
      // Agents that are due by their own schedule are always dispatched.
      const [due, open] = [ready.filter((candidate) => candidate.due), ready.filter((candidate) => !candidate.due)]
      if (open.length < 2) return dispatchPlan(ready.map(planAgent), notes)
      const chosen = await llm.plan({ ...occasion, candidates: open }, signal)
      const allNotes = [...notes, ...chosen.notes]
      switch (chosen.kind) {
        case 'plan':
          return dispatchPlan([...due.map(planAgent), ...chosen.planned], allNotes)
        case 'idle':
          return due.length > 0 ? dispatchPlan(due.map(planAgent), allNotes) : idlePlan(chosen.reason, allNotes)
        case 'error':
          return dispatchPlan(ready.map(planAgent), [
            ...allNotes,
            {
              about: 'planner failed',
              text: `the planner failed, so all agents with news were dispatched: ${chosen.error}`,
              zh: `规划器出错，因此有新情况的全部派发：${chosen.error}`,
            },
          ])
      }
    },
  }
}
