/** What a fresh home is furnished with: a configuration that says what can be said, the shipped agents, a folder to be tended, a place for the goal. */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Furnished } from '../commands/outside.ts'
import { edited } from '../config.ts'
import type { HomePaths } from '../home.ts'

/** Beside the sources, and beside the compiled code of the package alike. */
const SHIPPED = join(import.meta.dirname, '../../agents')

/** The kernel that a fresh configuration has. */
const KERNEL = 'default'

const CONFIG = `# What this home is told. Every key with its default: tireless config schema. Every value and where it comes from: tireless config explain.
# What is wrong with this file, with its line: tireless config check

kernel:
  schedule: "*/10 * * * *" # a beat: whoever has something new to see to is dispatched
  # timezone: Asia/Shanghai # default: the machine's own
  planner: { mode: hybrid } # nothing new: no model call at all; several with news: the model chooses
  max_concurrent: 3
  # The agents are in agents/<id>/agent.yaml. Another one: tireless agent new "watch ~/code and report every morning"

# models:
#   default: anthropic/claude-… # default: the first key in the environment, else a local server, else the built-in offline model

# These hold as long as nothing else is said; no call is made that could pass them.
# budget: { per_day_usd: 5, per_dispatch_calls: 40, per_dispatch_minutes: 30 }

# The page. Without a port of its own it takes any free one where this one is taken.
# server: { host: 127.0.0.1, port: 7717 }
`

const GOAL = `<!-- What your agents should work towards, in your words. They read it whenever they run; leave it empty as long as there is nothing to say. -->
`

const WELCOME = `# Put files here

The agent folder-tender enters whatever comes into this folder into INDEX.md.
`

/** Contract: writes what is not there, and changes nothing that is. A home with a configuration is its owner's already: nothing is added to it. */
export function furnish(paths: HomePaths, repository: string | undefined): Furnished {
  const wrote: string[] = []
  const kept: string[] = []
  const put = (path: string, text: string): void => {
    const file = join(paths.root, path)
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    if (written(file, text)) wrote.push(path)
    else kept.push(path)
  }
  if (existsSync(paths.config)) return { wrote, kept: thereIn(paths) }
  for (const id of readdirSync(SHIPPED)) {
    const text = readFileSync(join(SHIPPED, id, 'agent.yaml'), 'utf8')
    const file = relative(paths.root, join(paths.agents, id, 'agent.yaml'))
    put(file, id === 'repository-watcher' && repository !== undefined ? watching(text, repository) : text)
  }
  put('inbox/welcome.md', WELCOME)
  put(`kernels/${KERNEL}/GOAL.md`, GOAL)
  // Last: where it is, everything is.
  put(relative(paths.root, paths.config), CONFIG)
  return { wrote, kept }
}

const watching = (text: string, repository: string): string =>
  edited(text, [
    { path: ['enabled'], value: true },
    { path: ['watch'], value: [{ git: repository }] },
  ])

/** Contract: false where there is such a file already. */
function written(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw thrown
  }
}

const thereIn = ({ root, config, agents }: HomePaths): string[] => [
  relative(root, config),
  ...(existsSync(agents) ? readdirSync(agents).map((id) => join(relative(root, agents), id)) : []),
]
