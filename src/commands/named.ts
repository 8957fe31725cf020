/** One verb by its name, without the others: who waits for one does not wait for all of them to be loaded. */

import type { Command } from './command.ts'

/** By the first word of their names. One that is missing here is found all the same, later. */
const FILES: Readonly<Record<string, () => Promise<object>>> = {
  agent: () => import('./agents.ts'),
  approvals: () => import('./approvals.ts'),
  attach: () => import('./attach.ts'),
  audit: () => import('./audit.ts'),
  backup: () => import('./backup.ts'),
  budget: () => import('./budget.ts'),
  channels: () => import('./channels.ts'),
  compare: () => import('./compare.ts'),
  config: () => import('./config.ts'),
  cycle: () => import('./cycles.ts'),
  cycles: () => import('./cycles.ts'),
  doctor: () => import('./doctor.ts'),
  notices: () => import('./channels.ts'),
  enqueue: () => import('./queue.ts'),
  grants: () => import('./approvals.ts'),
  init: () => import('./init.ts'),
  logs: () => import('./logs.ts'),
  mcp: () => import('./mcp.ts'),
  memory: () => import('./memory.ts'),
  models: () => import('./models.ts'),
  once: () => import('./cycles.ts'),
  pause: () => import('./cycles.ts'),
  queue: () => import('./queue.ts'),
  replay: () => import('./replay.ts'),
  restore: () => import('./backup.ts'),
  resume: () => import('./cycles.ts'),
  run: () => import('./run.ts'),
  schedule: () => import('./schedule.ts'),
  secrets: () => import('./secrets.ts'),
  send: () => import('./sessions.ts'),
  sessions: () => import('./sessions.ts'),
  simulate: () => import('./simulate.ts'),
  skills: () => import('./skills.ts'),
  start: () => import('./start.ts'),
  state: () => import('./state.ts'),
  status: () => import('./status.ts'),
  stop: () => import('./cycles.ts'),
  trace: () => import('./trace.ts'),
  unknowns: () => import('./unknowns.ts'),
}

/** Contract: exactly that one; undefined where there is none. */
export const commandNamed = (name: string): Promise<Command | undefined> => firstOf([name])

/** Contract: the one whose name the words begin with, the longest such name; undefined where they begin with none. */
export function commandIn(words: readonly string[]): Promise<Command | undefined> {
  return firstOf(words.map((_, i) => words.slice(0, i + 1).join(' ')).reverse())
}

/** Of names that begin with the same word. */
async function firstOf(names: readonly string[]): Promise<Command | undefined> {
  const among = (commands: readonly Command[]): Command | undefined =>
    names.map((name) => commands.find((known) => known.name === name)).find((found) => found !== undefined)
  const [first = ''] = names.at(-1)?.split(' ') ?? []
  const load = Object.hasOwn(FILES, first) ? FILES[first] : undefined
  return (load && among(Object.values(await load()) as Command[])) ?? among((await import('./all.ts')).COMMANDS)
}
