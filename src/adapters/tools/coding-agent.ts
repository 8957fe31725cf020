/**
 * coding_agent: gives a task to an external coding agent, which works in the sandbox and in the workspace. Its cost is
 * reserved before it starts. One that a crash interrupted is not started again.
 */

import { z } from 'zod'
import { allowsHost, type HostPort, parseAllowedHost } from '../../domain/address.ts'
import type { CallResult } from '../../domain/decision.ts'
import { TirelessError } from '../../domain/error.ts'
import type { FactOrigin } from '../../domain/fact.ts'
import { parseJson } from '../../domain/json.ts'
import { UNTRUSTED_LABEL } from '../../domain/label.ts'
import { truncateText } from '../../domain/truncate.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { Egress } from '../../ports/egress.ts'
import type { OpenSocketProxy, ProcessResult } from '../../ports/env.ts'
import type { AnyTool, ToolContext } from '../../ports/tool.ts'
import { loadToolText } from '../../prompts/load-prompt.ts'
import { describeInterrupted } from './interrupted-output.ts'
import { asToolResult, toolError } from './tool-result.ts'

interface CodingAgent {
  readonly command: readonly string[]
  readonly usd: number
  readonly hosts: readonly string[]
  /** With its secrets filled in. */
  readonly env: Readonly<Record<string, string>>
  readonly timeout: number
}

interface Payment {
  readonly call: string
  readonly origin: FactOrigin
  /** The run that pays. */
  readonly run: string
  readonly agent: string
  readonly usd: number
}

export interface CodingAgents {
  readonly egress: Egress
  /** Contract: the names of the configured programs; at least one. */
  readonly names: readonly [string, ...string[]]
  /** Contract: throws if the program is no longer configured, or a secret of it is missing. */
  find(name: string): CodingAgent
  /**
   * Contract: reserves the money, then works, then books the cost that `work` returns. Throws `budget_*` before the
   * work if a cap would be exceeded. If the work throws, the whole sum counts as spent.
   */
  pay<T extends { readonly usd: number }>(payment: Payment, work: () => Promise<T>): Promise<T>
}

const MOST_TASK = 20_000
const MOST_ANSWER = 20_000

export function codingAgent(agents: CodingAgents): AnyTool {
  const args = z.strictObject({ agent: z.enum(agents.names), task: z.string().trim().min(1).max(MOST_TASK) })
  return defineToolWithText<z.infer<typeof args>>({
    name: 'coding_agent',
    loadText: () => loadToolText('coding_agent'),
    args,
    needs: ['process', 'file'],
    effect: () => ({ recovery: 'once', reach: 'workspace', writes: true }),
    gives: () => UNTRUSTED_LABEL,
    run: ({ agent, task }, context) => asToolResult(() => work(agents, agent, task, context)),
    remains: (_, context) => describeInterrupted(context),
    settled: async ({ ops, call }) => ops('process').forget(call),
  })
}

async function work(agents: CodingAgents, name: string, task: string, context: ToolContext): Promise<CallResult> {
  const { ops, call, origin, signal, cwd, say, delegation } = context
  const agent = agents.find(name)
  const { run = '', usd_left = null } = delegation?.() ?? {}
  if (usd_left !== null && usd_left < agent.usd)
    return toolError(`${name} may cost ${agent.usd} USD, and ${usd_left} USD are left of the budget of this run`)
  const network: OpenSocketProxy = async (socket) => ({
    ...(await agents.egress.proxy(isAmong(agent.hosts), socket)),
    environment: agent.env,
  })
  const options = { timeoutMs: agent.timeout, signal, cwd, onOutput: say, network }
  try {
    const { result, usd } = await agents.pay({ call, origin, run, agent: name, usd: agent.usd }, async () => {
      const result = await ops('process').run(call, commandLine(agent.command, task), options)
      return { result, usd: readReport(result.output)?.usd ?? agent.usd }
    })
    return receipt(name, result, usd)
  } catch (thrown) {
    if (thrown instanceof TirelessError && thrown.code.startsWith('budget_')) return toolError(thrown.message)
    throw thrown
  }
}

function isAmong(hosts: readonly string[]): (place: HostPort) => boolean {
  const open = hosts.flatMap((host) => parseAllowedHost(host) ?? [])
  return (place) => open.some((entry) => allowsHost(entry, place))
}

const TASK = '{task}'

/** The task is one argument, whatever it contains. Standard input is closed: no person is there to answer. */
function commandLine(command: readonly string[], task: string): string {
  const words = command.includes(TASK) ? command : [...command, TASK]
  return `${words.map((word) => quoteWord(word === TASK ? task : word)).join(' ')} < /dev/null`
}

const quoteWord = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** The last line of JSON that such programs print: what came of the task, and what it cost. */
const report = z.object({
  result: z.string().optional(),
  total_cost_usd: z.number().nonnegative().optional(),
  is_error: z.boolean().optional(),
})

function readReport(output: string) {
  const line = output.trimEnd().split('\n').at(-1) ?? ''
  const read = report.safeParse(parseJson(line))
  if (!read.success) return undefined
  const { result, total_cost_usd: usd, is_error = false } = read.data
  return { result, usd, is_error }
}

/** Contract: the answer with a receipt: how the program ended, and what is booked for it. */
function receipt(agent: string, { output, exit, ended }: ProcessResult, usd: number): CallResult {
  const said = readReport(output)
  const isDone = ended === 'exited' && exit === 0 && said?.is_error !== true
  const how = ended === 'exited' ? `exit ${exit ?? 'by a signal'}` : ended === 'timed_out' ? 'timed out' : 'interrupted'
  const answer = truncateText((said?.result ?? output).trim(), MOST_ANSWER)
  return {
    status: isDone ? 'ok' : 'error',
    content: `${answer}\n[${agent}: ${how}, ${usd} USD]`,
    facts: { cost_usd: usd, receipt: { agent, ended, exit, usd } },
  }
}
