/** git: version control in the workspace, as a command of the env. What it does to the world follows from its verb. */

import { z } from 'zod'
import { type Address, addressOf, type Place, placeText } from '../../../domain/address.ts'
import type { CallResult } from '../../../domain/decision.ts'
import type { Effect } from '../../../domain/effect.ts'
import { assertNever, TirelessError } from '../../../domain/error.ts'
import { OF_WORKSPACE, UNTRUSTED } from '../../../domain/trust.ts'
import { defineTool } from '../../../ports/define-tool.ts'
import type { Egress } from '../../../ports/egress.ts'
import type { OpenWayOut, ProcessResult } from '../../../ports/env.ts'
import type { AnyTool, ToolContext } from '../../../ports/tool.ts'
import { leftOf } from '../left-of.ts'
import { failed, told } from '../result.ts'
import { commandOf, judged, namesCommand } from './command.ts'
import { beforeOf, probeOf } from './probe.ts'
import { isNetwork, type Parsed, parsed } from './verbs.ts'

const WITHIN_MS = 120_000
const NETWORK_WITHIN_MS = 600_000

const args = z.strictObject({
  args: z
    .array(z.string())
    .min(1)
    .superRefine((value, context) => {
      const parsing = parsed(value)
      if (parsing.kind === 'refused') context.addIssue({ code: 'custom', message: parsing.why })
    })
    .describe('As for git; a remote by its address.'),
})
type Args = z.infer<typeof args>

export const git = (egress: Egress): AnyTool =>
  defineTool<Args>({
    name: 'git',
    description: 'Runs git in the workspace.',
    args,
    needs: ['process', 'file'],
    effect: (wanted) => effectOf(known(wanted)),
    gives: (wanted) => (isNetwork(known(wanted).kind) ? UNTRUSTED : OF_WORKSPACE),
    destinations: (wanted) => destinationsOf(known(wanted)),
    content: () => [],
    refuses: (wanted) => (isNetwork(known(wanted).kind) ? egress.refusal(remoteOf(known(wanted))) : undefined),
    before: (wanted, context) => beforeOf(known(wanted).kind, (command) => asked(context, command)),
    run: (wanted, context) => told(() => done(egress, wanted, context)),
    probe: async (wanted, before, context) => {
      await context.ops('process').reap(context.call)
      return probeOf(known(wanted).kind, before, context.intendedAt, (command) => asked(context, command))
    },
    remains: (_, context) => leftOf(context),
    settled: async ({ ops, call }) => ops('process').forget(call),
  })

/** Whoever has come so far has been read already. */
function known({ args: given }: Args): Parsed {
  const parsing = parsed(given)
  if (parsing.kind === 'parsed') return parsing.parsed
  throw new TirelessError('internal', parsing.why)
}

function remoteOf({ operands: [remote = ''] }: Parsed): Address {
  const read = addressOf(remote)
  if (read.kind === 'read') return read.value
  throw new TirelessError('internal', read.why)
}

function effectOf(wanted: Parsed): Effect {
  const there = (): Pick<Effect, 'reach' | 'host'> => ({ reach: 'network', host: placeText(remoteOf(wanted)) })
  switch (wanted.kind) {
    case 'look':
      return { recovery: 'pure', reach: 'none' }
    case 'add':
    case 'commit':
      return { recovery: 'reconcilable', reach: 'workspace' }
    case 'change':
      return { recovery: 'once', reach: 'workspace' }
    case 'ask':
      return { recovery: 'pure', ...there() }
    case 'take':
      return { recovery: 'idempotent', ...there(), writes: true }
    case 'merge':
      return { recovery: 'once', ...there(), writes: true }
    case 'give':
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

function destinationsOf(wanted: Parsed): readonly string[] {
  if (!isNetwork(wanted.kind)) return []
  return [remoteOf(wanted).url]
}

const isRepository = ({ env }: ToolContext): boolean => env.groups.includes('git')

async function done(egress: Egress, { args: given }: Args, context: ToolContext): Promise<CallResult> {
  const wanted = known({ args: given })
  const names = await asked(context, namesCommand(isRepository(context)))
  const { risky, filters } = judged(names.split('\n').filter((name) => name !== ''))
  if (risky.length > 0)
    return failed(
      `nothing was done: the repository's configuration would have git run or reach something else (${risky.slice(0, 5).join(', ')}); your owner has to take that out`,
    )
  const invocation = {
    args: given,
    at: Math.floor(context.intendedAt / 1000),
    isRepository: isRepository(context),
    filters,
  }
  if (!isNetwork(wanted.kind)) return resultOf(await running(context, commandOf(invocation), WITHIN_MS))
  const to = remoteOf(wanted)
  const why = egress.refusal(to)
  if (why !== undefined) return failed(why)
  const admits = ({ host, port }: Place): boolean => host === to.host && port === to.port
  // In a sandbox, the way out is a file; without one, a port.
  const network = (socket: string) => egress.proxy(admits, socket)
  const proxy = await egress.proxy(admits)
  try {
    const way = `http://${proxy.user}:${proxy.password}@127.0.0.1:${proxy.port}`
    const result = await running(context, commandOf({ ...invocation, proxy: way }), NETWORK_WITHIN_MS, network)
    return resultOf(result, proxy.refusals())
  } finally {
    await proxy.close()
  }
}

const running = (
  { ops, call, signal }: ToolContext,
  command: string,
  timeoutMs: number,
  network?: OpenWayOut,
): Promise<ProcessResult> => ops('process').run(call, command, { timeoutMs, signal, ...(network && { network }) })

/** Contract: what git says, under a name of its own; empty where it fails. */
async function asked({ ops, call, signal }: ToolContext, command: string): Promise<string> {
  const name = `${call}.look`
  const { exit, output } = await ops('process').run(name, command, { timeoutMs: WITHIN_MS, signal })
  await ops('process').forget(name)
  return exit === 0 ? output : ''
}

function resultOf({ exit, signal, output, ended }: ProcessResult, refusals: readonly string[] = []): CallResult {
  const said = [output.trim(), ...refusals].filter((text) => text !== '').join('\n')
  if (ended === 'interrupted') return { status: 'interrupted', content: `interrupted\n${said}` }
  if (ended === 'timed_out') return { status: 'timed_out', content: `it was killed, because it took too long\n${said}` }
  if (exit === 0) return { status: 'ok', content: said === '' ? 'done' : said }
  return failed(`git ended with ${exit ?? signal}\n${said}`)
}
