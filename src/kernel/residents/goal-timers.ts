/**
 * Goals that are due: the resident is reminded of a goal at fixed intervals, and told when its time is over. Instants
 * are wall times and follow from the interval alone, so that a restart shifts and repeats none.
 * Must not know: what a resident does about a goal.
 */

import { hash } from 'node:crypto'
import type { Publication } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Goal, ResidentSettings } from './resident-settings.ts'

interface DueGoal {
  readonly agent: string
  readonly goal: Goal
  readonly name: 'goal_due' | 'goal_over'
  readonly at: number
}

export class GoalTimers {
  readonly #clock: Clock
  readonly #publish: (publication: Publication) => Promise<unknown>
  /** Reminders up to this instant were published, or were due while no process ran. */
  #upTo: number

  constructor(clock: Clock, publish: (publication: Publication) => Promise<unknown>) {
    this.#clock = clock
    this.#publish = publish
    this.#upTo = clock.now()
  }

  /** Contract: the monotonic instant of the next reminder; undefined if there is none. */
  nextDue(settings: readonly ResidentSettings[]): number | undefined {
    const now = this.#clock.now()
    const instants = settings.flatMap(({ goals }) => goals.flatMap((goal) => instantsAfter(goal, this.#upTo)))
    return instants.length === 0 ? undefined : this.#clock.monotonic() + Math.max(0, Math.min(...instants) - now)
  }

  /** Contract: a full bus drops the reminder: the resident has enough to look at. */
  async publishDue(settings: readonly ResidentSettings[]): Promise<void> {
    const [from, now] = [this.#upTo, this.#clock.now()]
    // Never back: a reminder comes once, even if the wall clock is set back.
    this.#upTo = Math.max(from, now)
    if (now <= from) return
    const due = settings.flatMap(({ agent_id, goals }) => goals.flatMap((goal) => dueGoals(agent_id, goal, from, now)))
    for (const { agent, goal, name, at } of due) {
      const id = `${name}-${hash('sha256', JSON.stringify([agent, goal.text])).slice(0, 12)}-${at}`
      const observation = { type: 'system_event', name, payload: { goal: goal.text } } as const
      await this.#publish({ agents: [agent], id, observation }).catch(() => {})
    }
  }
}

const isOpen = ({ until }: Goal, at: number): boolean => until === null || at < until

function instantsAfter(goal: Goal, after: number): readonly number[] {
  const next = goal.every_ms === null ? undefined : (Math.floor(after / goal.every_ms) + 1) * goal.every_ms
  return [
    ...(next !== undefined && isOpen(goal, next) ? [next] : []),
    ...(goal.until !== null && goal.until > after ? [goal.until] : []),
  ]
}

/** Reminders that were missed count once. */
function dueGoals(agent: string, goal: Goal, from: number, now: number): readonly DueGoal[] {
  const last = goal.every_ms === null ? undefined : Math.floor(now / goal.every_ms) * goal.every_ms
  const isDue = last !== undefined && last > from && isOpen(goal, last)
  const isOver = goal.until !== null && goal.until > from && goal.until <= now
  return [
    ...(isDue ? [{ agent, goal, name: 'goal_due' as const, at: last }] : []),
    ...(isOver && goal.until !== null ? [{ agent, goal, name: 'goal_over' as const, at: goal.until }] : []),
  ]
}
