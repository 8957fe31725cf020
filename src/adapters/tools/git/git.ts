/** git: version control in the workspace, run as a command of the env. The git verb determines the call's effect. */

import { z } from 'zod'
import { type Address, formatHostPort, type HostPort, parseHttpAddress } from '../../../domain/address.ts'
import type { CallResult } from '../../../domain/decision.ts'
import type { Effect } from '../../../domain/effect.ts'
import { assertNever, TirelessError } from '../../../domain/error.ts'
import { LABEL_OF_WORKSPACE, UNTRUSTED_LABEL } from '../../../domain/label.ts'
import { defineToolWithText } from '../../../ports/define-tool.ts'
import type { Egress } from '../../../ports/egress.ts'
import type { OpenSocketProxy, ProcessResult } from '../../../ports/env.ts'
import type { AnyTool, ToolContext } from '../../../ports/tool.ts'
import { loadToolText } from '../../../prompts/load-prompt.ts'
import { describeInterrupted } from '../interrupted-output.ts'
import { asToolResult, toolError } from '../tool-result.ts'
import { buildGitCommand, checkConfigKeys, configKeysCommand } from './git-command.ts'
import { type GitCall, parseGitArgs, usesNetwork } from './git-verbs.ts'
import { probeGitCall, readGitState } from './probe-commit.ts'

const WITHIN_MS = 120_000
const NETWORK_WITHIN_MS = 600_000

const args = z.strictObject({
  args: z
    .array(z.string())
    .min(1)
    .superRefine((value, context) => {
      const parsing = parseGitArgs(value)
      if (parsing.kind === 'refused') context.addIssue({ code: 'custom', message: parsing.why })
    }),
})
type Args = z.infer<typeof args>

export const git = (egress: Egress): AnyTool =>
  defineToolWithText<Args>({
    name: 'git',
    loadText: () => loadToolText('git'),
    args,
    needs: ['process', 'file'],
    effect: (wanted) => effectOf(parseCall(wanted)),
    gives: (wanted) => (usesNetwork(parseCall(wanted).kind) ? UNTRUSTED_LABEL : LABEL_OF_WORKSPACE),
    destinations: (wanted) => destinationsOf(parseCall(wanted)),
    content: () => [],
    refuses: (wanted) =>
      usesNetwork(parseCall(wanted).kind) ? egress.refusal(remoteOf(parseCall(wanted))) : undefined,
    before: (wanted, context) => readGitState(parseCall(wanted).kind, (command) => gitOutput(context, command)),
    run: (wanted, context) => asToolResult(() => runGit(egress, wanted, context)),
    probe: async (wanted, before, context) => {
      await context.ops('process').reap(context.call)
      return probeGitCall(parseCall(wanted).kind, before, context.intendedAt, (command) => gitOutput(context, command))
    },
    remains: (_, context) => describeInterrupted(context),
    settled: async ({ ops, call }) => ops('process').forget(call),
  })

/** Does not throw for arguments that passed the schema: it has already refused invalid ones. */
function parseCall({ args: given }: Args): GitCall {
  const parsing = parseGitArgs(given)
  if (parsing.kind === 'parsed') return parsing.parsed
  throw new TirelessError('internal', parsing.why)
}

function remoteOf({ operands: [remote = ''] }: GitCall): Address {
  const read = parseHttpAddress(remote)
  if (read.kind === 'read') return read.value
  throw new TirelessError('internal', read.why)
}

function effectOf(wanted: GitCall): Effect {
  const remoteHost = (): Pick<Effect, 'reach' | 'host'> => ({
    reach: 'network',
    host: formatHostPort(remoteOf(wanted)),
  })
  switch (wanted.kind) {
    case 'read':
      return { recovery: 'pure', reach: 'none' }
    case 'add':
    case 'commit':
      return { recovery: 'reconcilable', reach: 'workspace' }
    case 'change':
      return { recovery: 'once', reach: 'workspace' }
    case 'query':
      return { recovery: 'pure', ...remoteHost() }
    case 'fetch':
      return { recovery: 'idempotent', ...remoteHost(), writes: true }
    case 'pull':
      return { recovery: 'once', ...remoteHost(), writes: true }
    case 'push':
      return {
        recovery: 'once',
        reach: 'third_party',
        method: wanted.forces ? 'push --force' : 'push',
        publishes: true,
      }
    default:
      return assertNever(wanted.kind)
  }
}

function destinationsOf(wanted: GitCall): readonly string[] {
  if (!usesNetwork(wanted.kind)) return []
  return [remoteOf(wanted).url]
}

const isRepository = ({ env }: ToolContext): boolean => env.groups.includes('git')

async function runGit(egress: Egress, { args: given }: Args, context: ToolContext): Promise<CallResult> {
  const wanted = parseCall({ args: given })
  const names = await gitOutput(context, configKeysCommand(isRepository(context)))
  const { risky, filters } = checkConfigKeys(names.split('\n').filter((name) => name !== ''))
  if (risky.length > 0)
    return toolError(
      `nothing was done: the git configuration is unsafe; ask your owner to remove ${risky.slice(0, 5).join(', ')}`,
    )
  const invocation = {
    args: given,
    at: Math.floor(context.intendedAt / 1000),
    isRepository: isRepository(context),
    filters,
  }
  if (!usesNetwork(wanted.kind))
    return resultFromProcess(await runCommand(context, buildGitCommand(invocation), WITHIN_MS))
  const to = remoteOf(wanted)
  const why = egress.refusal(to)
  if (why !== undefined) return toolError(why)
  const admits = ({ host, port }: HostPort): boolean => host === to.host && port === to.port
  // A sandbox reaches the proxy through a socket file, other envs through a port.
  const network = (socket: string) => egress.proxy(admits, socket)
  const proxy = await egress.proxy(admits)
  try {
    const address = `http://${proxy.user}:${proxy.password}@127.0.0.1:${proxy.port}`
    const result = await runCommand(
      context,
      buildGitCommand({ ...invocation, proxy: address }),
      NETWORK_WITHIN_MS,
      network,
    )
    return resultFromProcess(
      result,
      proxy.refusals().map(({ message }) => message),
    )
  } finally {
    await proxy.close()
  }
}

const runCommand = (
  { ops, call, signal }: ToolContext,
  command: string,
  timeoutMs: number,
  network?: OpenSocketProxy,
): Promise<ProcessResult> => ops('process').run(call, command, { timeoutMs, signal, ...(network && { network }) })

/** Contract: the output of a read-only command; empty if the command fails. The command runs under its own call id. */
async function gitOutput({ ops, call, signal }: ToolContext, command: string): Promise<string> {
  const name = `${call}.look`
  const { exit, output } = await ops('process').run(name, command, { timeoutMs: WITHIN_MS, signal })
  await ops('process').forget(name)
  return exit === 0 ? output : ''
}

function resultFromProcess(
  { exit, signal, output, ended }: ProcessResult,
  refusals: readonly string[] = [],
): CallResult {
  const text = [output.trim(), ...refusals].filter((part) => part !== '').join('\n')
  if (ended === 'interrupted') return { status: 'interrupted', content: `interrupted\n${text}` }
  if (ended === 'timed_out') return { status: 'timed_out', content: `git took too long and was killed\n${text}` }
  if (exit === 0) return { status: 'ok', content: text === '' ? 'done' : text }
  return toolError(`git failed (${exit === null ? signal : `exit ${exit}`})\n${text}`)
}
