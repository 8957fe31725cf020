/** Applies the total limits of processes, memory and disk to MCP servers and commands of a home together. */

import type { CommandLimits } from '../adapters/envs/host/resource-limits.ts'
import { systemClock } from '../adapters/system/clock.ts'
import type { ProcessStart } from '../ports/process-start.ts'

/** A server runs for days, so it is checked less often than a command. */
const CHECK_MS = 500

interface LimitedServer {
  readonly limits: CommandLimits
  /** Folders on the disks that the server can fill. */
  readonly folders: readonly string[]
  /** Contract: kills all processes of the server at once. Missing if that is not possible. */
  kill?(): Promise<void>
}

/** Contract: call it last: the server counts towards the limits until `close` of the result is called. */
export async function limitServer(start: ProcessStart, server: LimitedServer): Promise<ProcessStart> {
  const { limits, folders, kill } = server
  const limited = await limits.register(folders)
  const over = new AbortController()
  const watch = async (end: (reason: string) => void): Promise<void> => {
    while (!over.signal.aborted) {
      const reason = await limited.check()
      if (reason !== undefined) {
        await kill?.()
        return end(reason)
      }
      await systemClock.sleep(CHECK_MS, over.signal)
    }
  }
  return {
    ...start,
    argv: joiningArgv(limited.joinFiles, start),
    started(pid, end) {
      limited.setShell(pid)
      void watch(end)
    },
    async close() {
      over.abort()
      limited.end()
      await start.close?.()
    },
  }
}

/** Exit code of a server that could not join the control group. */
const NOT_LIMITED = 124

/**
 * A command line that joins the control groups and then starts the server. The shell in it must not add its own PWD to
 * the environment of the server.
 */
function joiningArgv(joins: readonly string[], { argv, env }: ProcessStart): readonly string[] {
  if (joins.length === 0) return argv
  const quoted = joins.map((file) => `'${file.replaceAll("'", `'\\''`)}'`)
  const join = quoted.map((file) => `echo 0 > ${file} || exit ${NOT_LIMITED}`)
  const script = [...join, ...(env.PWD === undefined ? ['unset PWD'] : []), 'exec "$@"'].join('\n')
  return ['/bin/sh', '-c', script, 'tireless', ...argv]
}
