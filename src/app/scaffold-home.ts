/** Creates a new home: a commented configuration, the shipped agents, a watched folder, an empty goal. */

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { ScaffoldedFiles } from '../commands/lib/closed-home.ts'
import { edited, SHIPPED_AGENTS } from '../config.ts'
import { TirelessError } from '../domain/error.ts'
import { writeNewFile } from '../files/whole-files.ts'
import type { HomePaths } from '../home.ts'

/** Kernel id of a new configuration. */
const KERNEL = 'default'

const CONFIG = `# Configuration of this home.
# All keys with defaults: tireless config schema. All values with sources: tireless config explain.
# Check this file: tireless config check

kernel:
  schedule: "*/10 * * * *" # a beat: agents with changes to look at are started
  # timezone: Asia/Shanghai # default: the machine's time zone
  planner: { mode: hybrid } # no changes: no model call; changes for several agents: the model chooses
  max_concurrent: 3
  # The agents are in agents/<id>/agent.yaml. Add one: tireless agent new "watch ~/code and report every morning"

# models:
#   # default: the first key in the environment, else a local server, else the built-in offline model
#   default: anthropic/claude-…

# Defaults; no call is made that could exceed them.
# budget: { per_day_usd: 5, per_dispatch_calls: 40, per_dispatch_minutes: 30 }

# The page. If this port is in use and not set here, another free one is taken.
# server: { host: 127.0.0.1, port: 7717 }
`

const GOAL = `<!-- What your agents should work towards. They read it in every run. Leave it empty without a goal. -->
`

const WELCOME = `# Put files here

The agent folder-tender adds every new file of this folder to INDEX.md.
`

/** Contract: writes missing files and changes no existing one. Adds nothing to a home that has a configuration. */
export function scaffoldHome(paths: HomePaths, repository: string | undefined): ScaffoldedFiles {
  const wrote: string[] = []
  const kept: string[] = []
  const write = (path: string, text: string): void => {
    const file = join(paths.root, path)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    if (writeNew(file, text)) wrote.push(path)
    else kept.push(path)
  }
  if (existsSync(paths.config)) return { wrote, kept: existingFiles(paths) }
  for (const id of readdirSync(SHIPPED_AGENTS)) {
    for (const name of readdirSync(join(SHIPPED_AGENTS, id), { recursive: true, encoding: 'utf8' }).toSorted()) {
      if (!statSync(join(SHIPPED_AGENTS, id, name)).isFile()) continue
      const text = readFileSync(join(SHIPPED_AGENTS, id, name), 'utf8')
      const isWatcher = id === 'repository-watcher' && name === 'agent.yaml' && repository !== undefined
      write(relative(paths.root, join(paths.agents, id, name)), isWatcher ? watchRepository(text, repository) : text)
    }
  }
  write('inbox/welcome.md', WELCOME)
  write(`kernels/${KERNEL}/GOAL.md`, GOAL)
  // The configuration is written last, because a home with a configuration counts as complete.
  write(relative(paths.root, paths.config), CONFIG)
  return { wrote, kept }
}

const watchRepository = (text: string, repository: string): string =>
  edited(text, [
    { path: ['enabled'], value: true },
    { path: ['watch'], value: [{ git: repository }] },
  ])

/** Contract: false if the file exists. */
function writeNew(file: string, text: string): boolean {
  try {
    writeNewFile(file, text)
    return true
  } catch (thrown) {
    if (thrown instanceof TirelessError && thrown.code === 'conflict') return false
    throw thrown
  }
}

const existingFiles = ({ root, config, agents }: HomePaths): string[] => [
  relative(root, config),
  ...(existsSync(agents) ? readdirSync(agents).map((id) => join(relative(root, agents), id)) : []),
]
