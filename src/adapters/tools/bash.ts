/**
 * bash: runs a command in the workspace. A command that a crash interrupted is not run again: its processes are killed
 * and its output is reported.
 */

import { z } from 'zod'
import type { CallResult } from '../../domain/decision.ts'
import type { Effect } from '../../domain/effect.ts'
import { assertNever } from '../../domain/error.ts'
import { LABEL_OF_MACHINE, LABEL_OF_WORKSPACE, UNTRUSTED_LABEL } from '../../domain/label.ts'
import { defineToolWithText } from '../../ports/define-tool.ts'
import type { ProcessResult, RunOptions } from '../../ports/env.ts'
import type { AnyTool } from '../../ports/tool.ts'
import { loadPrompt, loadToolText, type ToolText } from '../../prompts/load-prompt.ts'
import {
  type CommandNetwork,
  describeSentCredential,
  isPublishingCommand,
  namedHosts,
  networkArgument,
  openNetwork,
  refuseHosts,
} from './command-network.ts'
import { escapeControls } from './file-path.ts'
import { fillCommand } from './fill-command.ts'
import { describeInterrupted } from './interrupted-output.ts'
import { asToolResult } from './tool-result.ts'

const DEFAULT_SECONDS = 120
const MOST_SECONDS = 1800

const args = z.strictObject({
  command: z.string().min(1),
  timeout_s: z.number().min(0.1).max(MOST_SECONDS).default(DEFAULT_SECONDS),
  network: networkArgument,
})
type Args = z.infer<typeof args>

type CommandPlace = 'sandbox' | 'container' | 'machine'

export interface ShellOptions {
  readonly where: CommandPlace
  /** The hosts that commands can reach; set only if they run in a sandbox. */
  readonly network?: CommandNetwork
}

export const bash = ({ where, network }: ShellOptions): AnyTool =>
  defineToolWithText<Args>({
    name: 'bash',
    loadText: () => loadBashText(where),
    args: network ? args : args.omit({ network: true }),
    needs: ['process', 'file'],
    runsCommands: true,
    volatile: ['timeout_s'],
    // Without a sandbox, a command could send the texts anywhere.
    ...(where !== 'machine' && {
      placeholders: {
        fill: (wanted, textOf) => ({ ...wanted, command: fillCommand(wanted.command, textOf) }),
      },
    }),
    effect,
    destinations: (wanted) => namedHosts(wanted.network),
    content: ({ command }) => [command],
    refuses: (wanted) => network && refuseHosts(network, namedHosts(wanted.network)),
    asks: ({ command, network: hosts = [] }) =>
      network && hosts.length === 0 ? describeSentCredential(network, command) : undefined,
    gives(wanted) {
      if (where === 'machine') return LABEL_OF_MACHINE
      return namedHosts(wanted.network).length > 0 || network?.hasAllowedHosts() ? UNTRUSTED_LABEL : LABEL_OF_WORKSPACE
    },
    run: (wanted, { ops, call, signal, cwd, label, say }) =>
      asToolResult(async () => {
        const { command, timeout_s } = wanted
        const opened = network && openNetwork(network, namedHosts(wanted.network), label)
        const limits = { timeoutMs: timeout_s * 1000, signal, cwd }
        const options: RunOptions = { ...limits, onOutput: say, ...(opened && { network: opened }) }
        return resultFromProcess(await ops('process').run(call, command, options), timeout_s)
      }),
    remains: (_, context) => describeInterrupted(context),
    settled: async ({ ops, call }) => ops('process').forget(call),
  })

/** The tool's description. It tells the model the limits of the sandbox or the container, if commands run there. */
function loadBashText(where: CommandPlace): ToolText {
  const text = loadToolText('bash', { limit: MOST_SECONDS })
  if (where === 'machine') return text
  return { ...text, description: `${text.description} ${loadPrompt(`tools/bash.${where}.md`)}` }
}

function effect({ command, network }: Args): Effect {
  if (namedHosts(network).length === 0) return { recovery: 'once', reach: 'workspace' }
  const sent = { recovery: 'once', reach: 'third_party', unseen: true, writes: true } as const
  return isPublishingCommand(command) ? { ...sent, method: 'push', publishes: true } : { ...sent, method: 'network' }
}

function resultFromProcess(result: ProcessResult, seconds: number): CallResult {
  const { output, exit } = result
  const cwdNote = result.cwd === '' ? '' : `; now in ${escapeControls(result.cwd)}`
  const content = (last: string) => `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}[${last}${cwdNote}]`
  const facts = { exit, cwd: result.cwd }
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
