/** Finds one command by name and loads only its file, so that the command line starts fast. */

import type { Command } from './command.ts'

/** The file of each command, by the command's first word. For a command that is missing here, all files are loaded. */
const FILES: Readonly<Record<string, () => Promise<object>>> = {
  agent: () => import('../agents.ts'),
  approvals: () => import('../approvals.ts'),
  attach: () => import('../attach.ts'),
  audit: () => import('../audit.ts'),
  backup: () => import('../backup.ts'),
  budget: () => import('../budget.ts'),
  channels: () => import('../channels.ts'),
  compare: () => import('../compare.ts'),
  config: () => import('../config.ts'),
  cycle: () => import('../cycles.ts'),
  cycles: () => import('../cycles.ts'),
  doctor: () => import('../doctor.ts'),
  notices: () => import('../channels.ts'),
  enqueue: () => import('../queue.ts'),
  grants: () => import('../approvals.ts'),
  init: () => import('../init.ts'),
  logs: () => import('../logs.ts'),
  mcp: () => import('../mcp.ts'),
  memory: () => import('../memory.ts'),
  models: () => import('../models.ts'),
  once: () => import('../cycles.ts'),
  pause: () => import('../cycles.ts'),
  queue: () => import('../queue.ts'),
  replay: () => import('../replay.ts'),
  restore: () => import('../backup.ts'),
  resume: () => import('../cycles.ts'),
  run: () => import('../run.ts'),
  schedule: () => import('../schedule.ts'),
  secrets: () => import('../secrets.ts'),
  send: () => import('../sessions.ts'),
  sessions: () => import('../sessions.ts'),
  simulate: () => import('../simulate.ts'),
  skills: () => import('../skills.ts'),
  start: () => import('../start.ts'),
  state: () => import('../state.ts'),
  status: () => import('../status.ts'),
  stop: () => import('../cycles.ts'),
  trace: () => import('../trace.ts'),
  unknowns: () => import('../unknowns.ts'),
}

/** Contract: the command of exactly this name, or undefined. */
export const loadCommand = (name: string): Promise<Command | undefined> => findFirst([name])

/** Contract: the command with the longest name that the words start with, or undefined. */
export function findCommand(words: readonly string[]): Promise<Command | undefined> {
  return findFirst(words.map((_, i) => words.slice(0, i + 1).join(' ')).reverse())
}

/** Loads the first command that exists. `names`: in order of preference, all with the same first word. */
async function findFirst(names: readonly string[]): Promise<Command | undefined> {
  const findAmong = (commands: readonly Command[]): Command | undefined =>
    names.map((name) => commands.find((known) => known.name === name)).find((found) => found !== undefined)
  const [first = ''] = names.at(-1)?.split(' ') ?? []
  const load = Object.hasOwn(FILES, first) ? FILES[first] : undefined
  return (
    (load && findAmong(Object.values(await load()) as Command[])) ?? findAmong((await import('./registry.ts')).COMMANDS)
  )
}
