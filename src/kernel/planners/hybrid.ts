/**
 * The hybrid planner: rules first, the model only for a choice. Agents without news are left out. With none left the
 * cycle is idle, and with one no model is called; of several the model selects. If the model fails, all of them go.
 * Must not know: how a model is called.
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
      const ready = wanted.filter((candidate) => !backsOff(candidate, occasion))
      if (ready.length === 0) return idle(wanted.length === 0 ? 'nothing new' : whyBackingOff(wanted, occasion), notes)
      // Agents that are due by their own schedule are always dispatched.
      const [due, open] = [ready.filter((candidate) => candidate.due), ready.filter((candidate) => !candidate.due)]
      if (open.length < 2) return plan(ready.map(planned), notes)
      const chosen = await llm.plan({ ...occasion, candidates: open }, signal)
      const allNotes = [...notes, ...chosen.notes]
      switch (chosen.kind) {
        case 'plan':
          return plan([...due.map(planned), ...chosen.planned], allNotes)
        case 'idle':
          return due.length > 0 ? plan(due.map(planned), allNotes) : idle(chosen.reason, allNotes)
        case 'error':
          return plan(ready.map(planned), [
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

/** After a failed dispatch there is always news: it did not deal with what it saw. */
function hasNews({ recent, sight: fingerprint }: Candidate): boolean {
  const [last] = recent
  return last === undefined || last.status !== 'done' || last.metadata.sight !== fingerprint
}
