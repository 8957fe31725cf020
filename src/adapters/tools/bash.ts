/** bash: a command in the workspace. Never run twice by itself; what is left of an interrupted one is killed, then told. */

import { z } from 'zod'
import type { CallResult } from '../../domain/decision.ts'
import { assertNever } from '../../domain/error.ts'
import { OF_WORKSPACE } from '../../domain/trust.ts'
import { defineTool } from '../../ports/define-tool.ts'
import type { ProcessResult } from '../../ports/env.ts'
import { leftOf } from './left-of.ts'
import { told } from './result.ts'

const DEFAULT_SECONDS = 120
const MOST_SECONDS = 1800

const args = z.strictObject({
  command: z.string().min(1).describe('What to run with bash -c, in the workspace.'),
  timeout_s: z
    .number()
    .min(0.1)
    .max(MOST_SECONDS)
    .default(DEFAULT_SECONDS)
    .describe(`Seconds after which it is killed, at most ${MOST_SECONDS}.`),
})

export const bash = defineTool<z.infer<typeof args>>({
  name: 'bash',
  description:
    'Runs a command in the workspace and returns its output and exit code. When it ends, every process it started is killed: nothing can be left in the background.',
  args,
  needs: ['process', 'file'],
  volatile: ['timeout_s'],
  effect: () => ({ recovery: 'once', reach: 'workspace' }),
  gives: () => OF_WORKSPACE,
  run: ({ command, timeout_s }, { ops, call, signal }) =>
    told(async () =>
      resultOf(await ops('process').run(call, command, { timeoutMs: timeout_s * 1000, signal }), timeout_s),
    ),
  remains: (_, context) => leftOf(context),
  settled: async ({ ops, call }) => ops('process').forget(call),
})

function resultOf(result: ProcessResult, seconds: number): CallResult {
  const { output, exit } = result
  const content = (last: string) => `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}[${last}]`
  const facts = { exit }
  switch (result.ended) {
    case 'exited':
      return {
        status: exit === 0 ? 'ok' : 'error',
        content: content(exit === null ? `killed by ${result.signal}` : `exit ${exit}`),
        facts,
      }
    case 'timed_out':
      return { status: 'timed_out', content: content(`timed out after ${seconds} s; ${KILLED}`), facts }
    case 'interrupted':
      return { status: 'interrupted', content: content(`interrupted; ${KILLED}`), facts }
    default:
      return assertNever(result.ended)
  }
}

const KILLED = 'the whole process tree was killed'
