/**
 * Executes the checks of todos on throw-away copies of the workspace. Files are checked before commands of the same
 * todo run, and each todo with a command gets a copy of its own, so that no check sees what another one did.
 */

import { formatHostPort, parseHttpAddress } from '../../../domain/address.ts'
import { describeCheck } from '../../../domain/describe-check.ts'
import { assertNever, asTirelessError, TirelessError } from '../../../domain/error.ts'
import type { CheckResult, Todo, TodoCheck } from '../../../domain/todo.ts'
import { iso } from '../../../ports/clock.ts'
import { withDeadline } from '../../../ports/deadline.ts'
import type { Egress } from '../../../ports/egress.ts'
import { type Env, requireOps } from '../../../ports/env.ts'
import type { ToolContext } from '../../../ports/tool.ts'

const COMMAND_MS = 300_000
const HTTP_MS = 30_000
const MAX_HTTP_BYTES = 64 * 1024
const MAX_OUTPUT = 1500

/** What a check saw, without the check, the time and the copy. */
type Seen = Pick<CheckResult, 'ok' | 'exit' | 'observed' | 'output'>

export type ChecksOutcome =
  | { readonly kind: 'executed'; readonly results: readonly CheckResult[] }
  /** The checks could not be executed, which says nothing about the work. */
  | { readonly kind: 'not_executed'; readonly why: string }

/** Runs checks, one todo after the other. `close` removes the last copy. */
export class CheckRunner {
  readonly #egress: Egress
  readonly #context: ToolContext
  #copy: Env | undefined
  #commands = 0

  constructor(egress: Egress, context: ToolContext) {
    this.#egress = egress
    this.#context = context
  }

  async run({ code, checks }: Pick<Todo, 'code' | 'checks'>): Promise<ChecksOutcome> {
    const results = new Map<TodoCheck, CheckResult>()
    try {
      // Commands come last, because they may change the copy.
      for (const check of [...checks].sort((a, b) => Number(a.kind === 'command') - Number(b.kind === 'command'))) {
        this.#context.say(`${code}: ${describeCheck(check)}\n`)
        const copy = check.kind === 'http' ? undefined : await this.#pristineCopy()
        const at = iso(this.#context.clock.now())
        results.set(check, { check, ...(await this.#execute(check, copy)), at, digest: copy?.digest ?? '' })
      }
    } catch (thrown) {
      return { kind: 'not_executed', why: asTirelessError(thrown).message }
    } finally {
      if (checks.some(({ kind }) => kind === 'command')) await this.close()
    }
    return { kind: 'executed', results: checks.flatMap((check) => results.get(check) ?? []) }
  }

  async close(): Promise<void> {
    await this.#copy?.close()
    this.#copy = undefined
  }

  async #pristineCopy(): Promise<Env> {
    const { env, signal } = this.#context
    if (signal.aborted) throw new TirelessError('aborted', 'the checks were interrupted')
    if (!env.openCopy)
      throw new TirelessError('tool_failed', { what: 'this env cannot make a copy of the workspace', where: env.root })
    this.#copy ??= await env.openCopy()
    return this.#copy
  }

  #execute(check: TodoCheck, copy: Env | undefined): Promise<Seen> {
    switch (check.kind) {
      case 'command':
        return this.#runCommand(check, copy as Env)
      case 'file':
        return checkFile(check, copy as Env)
      case 'http':
        return this.#request(check)
      default:
        return assertNever(check)
    }
  }

  async #runCommand({ run, expect_exit = 0 }: Extract<TodoCheck, { kind: 'command' }>, copy: Env): Promise<Seen> {
    const { call, signal } = this.#context
    const process = requireOps(copy, 'process')
    this.#commands += 1
    const name = `${call}.check${this.#commands}`
    try {
      const { exit, ended, output } = await process.run(name, run, { timeoutMs: COMMAND_MS, signal })
      if (ended === 'interrupted') throw new TirelessError('aborted', 'the checks were interrupted')
      const observed = ended === 'timed_out' ? `no end after ${COMMAND_MS / 1000} s` : `exit ${exit ?? 'by a signal'}`
      return { ok: ended === 'exited' && exit === expect_exit, exit, observed, output: tailOf(output) }
    } finally {
      await process.forget(name)
    }
  }

  async #request({ url, status = 200 }: Extract<TodoCheck, { kind: 'http' }>): Promise<Seen> {
    const refusal = refuseCheckHost(this.#egress, url)
    if (refusal !== undefined) return { ok: false, observed: refusal, output: '' }
    const address = parseHttpAddress(url)
    if (address.kind === 'refused') return { ok: false, observed: address.why, output: '' }
    const { clock, signal } = this.#context
    const outgoing = { to: address.value, method: 'GET', maxBytes: MAX_HTTP_BYTES }
    return withDeadline(
      { clock, ms: HTTP_MS, stop: signal },
      async (over) => {
        try {
          const answer = await this.#egress.ask(outgoing, over)
          const output = answer.kind === 'answered' ? tailOf(answer.body.toString('utf8')) : `redirect to ${answer.to}`
          return { ok: answer.status === status, observed: `HTTP ${answer.status}`, output }
        } catch (thrown) {
          return { ok: false, observed: tailOf(asTirelessError(thrown).message), output: '' }
        }
      },
      () => ({ ok: false, observed: `no answer after ${HTTP_MS / 1000} s`, output: '' }),
    )
  }
}

/** Contract: why a check may not reach that address; undefined if the owner listed its host. */
export function refuseCheckHost(egress: Egress, url: string): string | undefined {
  const address = parseHttpAddress(url)
  if (address.kind === 'refused') return `${url}: ${address.why}`
  const refusal = egress.refusal(address.value)
  if (refusal !== undefined) return refusal
  if (egress.isListed(address.value)) return undefined
  return `${formatHostPort(address.value)} is not in policy.allow_hosts; a check can reach only hosts listed there`
}

async function checkFile(check: Extract<TodoCheck, { kind: 'file' }>, copy: Env): Promise<Seen> {
  const { path, exists = true, contains, sha256 } = check
  const file = requireOps(copy, 'file')
  try {
    const found = await file.read(path)
    if (!found) return { ok: !exists, observed: 'no such file', output: '' }
    const problems = [
      ...(exists ? [] : ['the file exists']),
      ...(contains === undefined || found.text.includes(contains) ? [] : [`it does not contain ${quote(contains)}`]),
      ...(sha256 === undefined || found.sha === sha256.toLowerCase() ? [] : [`its SHA-256 is ${found.sha}`]),
    ]
    const observed = problems.join('; ') || `the file exists (SHA-256 ${found.sha})`
    return { ok: problems.length === 0, observed, output: '' }
  } catch (thrown) {
    const { code, message } = asTirelessError(thrown)
    if (code !== 'path_refused') throw thrown
    const isFolder = await file.list(path, 1, 1).then(
      () => true,
      () => false,
    )
    if (!isFolder) return { ok: false, observed: tailOf(message), output: '' }
    const onlyExists = contains === undefined && sha256 === undefined
    return { ok: exists && onlyExists, observed: 'a folder', output: '' }
  }
}

const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)

const tailOf = (text: string): string => {
  const whole = text.trimEnd().toWellFormed()
  return whole.length > MAX_OUTPUT ? `…${whole.slice(-MAX_OUTPUT).toWellFormed()}` : whole
}
