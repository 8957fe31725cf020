/**
 * The hybrid planner: rules first, the model only where there is a choice. Whoever sees nothing new is left out; nobody left is idle, without
 * a model call; one left needs none; of several the model takes some. Only its error falls back to all of them.
 * Must not know: how a model is asked.
 */

import { type Candidate, idle, type Plan, type Planner, plan } from './planner.ts'
import { backsOff, motionNote, whyBackingOff } from './progress.ts'
import { available, planned, whyNobody } from './static.ts'

export function hybridPlanner(llm: Planner): Planner {
  return {
    async plan(occasion, signal): Promise<Plan> {
      const free = available(occasion)
      const notes = free.flatMap((candidate) => motionNote(candidate, !candidate.due) ?? [])
      if (free.length === 0) return idle(whyNobody(occasion), notes)
      const wanted = free.filter((candidate) => candidate.due || hasNews(candidate))
      const fresh = wanted.filter((candidate) => !backsOff(candidate, occasion))
      if (fresh.length === 0) return idle(wanted.length === 0 ? 'nothing new' : whyBackingOff(wanted, occasion), notes)
      // What is due by a schedule of its own is nobody's choice.
      const [due, open] = [fresh.filter((one) => one.due), fresh.filter((one) => !one.due)]
      if (open.length < 2) return plan(fresh.map(planned), notes)
      const chosen = await llm.plan({ ...occasion, candidates: open }, signal)
      const heard = [...notes, ...chosen.notes]
      switch (chosen.kind) {
        case 'plan':
          return plan([...due.map(planned), ...chosen.planned], heard)
        case 'idle':
          return due.length > 0 ? plan(due.map(planned), heard) : idle(chosen.reason, heard)
        case 'error':
          return plan(fresh.map(planned), [
            ...heard,
            {
              about: 'planner failed',
              text: `the planner failed, so everybody with news goes: ${chosen.error}`,
              zh: `规划器出错，因此有新情况的全部派发：${chosen.error}`,
            },
          ])
      }
    },
  }
}

/** What failed has not seen to what it saw. */
function hasNews({ recent, sight }: Candidate): boolean {
  const [last] = recent
  return last === undefined || last.status !== 'done' || last.metadata.sight !== sight
}
