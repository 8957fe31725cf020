/** Schema of external coding agents: programs such as Claude Code that work on a task by themselves. */

import { z } from 'zod'
import { MAX_USD } from '../domain/limits.ts'
import { hostPattern, namedMapping, positiveDuration, variableName } from './value-types.ts'

const USD = `US dollars, above 0, at most ${MAX_USD}`

export const codingAgentSchema = z.strictObject({
  command: z
    .array(z.string())
    .nonempty('a command with its arguments, such as [claude, -p, "{task}"]')
    .describe('the argument {task} is replaced by the task; without it, the task is the last argument'),
  usd: z
    .number(USD)
    .positive(USD)
    .max(MAX_USD, USD)
    .describe('what one task may cost; it is reserved before the start'),
  hosts: z.array(hostPattern).prefault([]).describe('hosts that the program may reach from its sandbox'),
  env: namedMapping(variableName, z.string())
    .prefault({})
    .describe('variables of the program; a value may be secret:NAME'),
  timeout: positiveDuration.prefault('30m').describe('time limit of a task'),
})
