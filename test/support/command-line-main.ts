/** Runs command lines that the parent process sends over IPC, one after the other. */

import { dirname, join } from 'node:path'
import type { CommandOutput } from './command-line.ts'

const bundle = process.env.BUNDLED_MAIN
const { runCli }: typeof import('../../src/cli/cli.ts') = await import(
  bundle === undefined ? '../../src/cli/cli.ts' : join(dirname(bundle), 'cli.js')
)

export interface CommandRequest {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

// Each command adds listeners and expects the process to exit afterwards; here they accumulate.
for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0)

process.on('message', async ({ args, env }: CommandRequest) => {
  process.env = env
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = (text: string | Uint8Array) => {
      output[name] += typeof text === 'string' ? text : Buffer.from(text).toString()
      return true
    }
  const exit = await runCli(args)
  process.send?.({ exit, ...output } satisfies CommandOutput)
})
process.on('disconnect', () => process.exit())
