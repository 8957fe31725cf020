/** The command line, asked over and over by the process that started this one. */

import { runCli } from '../../src/cli/cli.ts'
import type { CommandOutput } from './command-line.ts'

export interface CommandRequest {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

// What listens for the end of one command stays until the process ends, which it is made for.
for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0)

process.on('message', async ({ args, env }: CommandRequest) => {
  process.env = env
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = (text: string | Uint8Array) => {
      said[name] += typeof text === 'string' ? text : Buffer.from(text).toString()
      return true
    }
  const exit = await runCli(args)
  process.send?.({ exit, ...said } satisfies CommandOutput)
})
process.on('disconnect', () => process.exit())
