/**
 * The home's Unix socket: the process that holds the home runs commands for other processes of the same user. A client
 * sends one JSON line `{command, input}`; the server answers with lines: `{accepted}`, any number of `{progress}`, then
 * `{output}` or `{error}`.
 */

import { chmodSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import type { Command } from '../commands/lib/command.ts'
import type { CommandContext } from '../commands/lib/context.ts'
import type { Progress } from '../commands/lib/progress.ts'
import { validateAndRun } from '../commands/lib/validate-and-run.ts'
import { asTirelessError, ERROR_CODES, type ErrorCode, TirelessError } from '../domain/error.ts'
import { splitLines } from './split-lines.ts'

type Reply =
  /** Sent before the command runs. If it does not arrive, nothing was done, so the client may ask again. */
  | { readonly accepted: true }
  | { readonly progress: Progress }
  | { readonly output: unknown }
  | { readonly error: { readonly code: ErrorCode; readonly message: string } }

export interface SocketServer {
  /** Contract: accepts no new connections and finishes running commands. */
  close(): Promise<void>
}

type FindCommand = (name: string) => Promise<Command | undefined>

export async function serveSocket(path: string, find: FindCommand, context: CommandContext): Promise<SocketServer> {
  rmSync(path, { force: true })
  const open = new Set<Promise<void>>()
  const closing = new AbortController()
  const server: Server = createServer((socket) => {
    const request = answer(socket, find, context, closing.signal).finally(() => open.delete(request))
    open.add(request)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  chmodSync(path, 0o600)
  return {
    async close() {
      closing.abort()
      const closed = new Promise((resolve) => server.close(resolve))
      await Promise.all(open)
      await closed
    },
  }
}

async function answer(socket: Socket, find: FindCommand, context: CommandContext, closing: AbortSignal): Promise<void> {
  // Errors of the connection are ignored: a client that disconnects does not stop its command.
  socket.on('error', () => {})
  const reply = (line: Reply): void => {
    if (socket.writable) socket.write(`${JSON.stringify(line)}\n`)
  }
  try {
    const { command, input } = await readRequest(socket)
    const found = await find(String(command))
    if (found?.runsIn !== 'any_process' && found?.runsIn !== 'kernel')
      throw new TirelessError('usage', {
        what: 'no such command, or it cannot run in the kernel',
        got: String(command),
      })
    reply({ accepted: true })
    const commandContext = found.runsIn === 'kernel' ? whileConnected(socket, closing, context) : context
    reply({ output: await validateAndRun(found, commandContext, input, (progress) => reply({ progress })) })
  } catch (thrown) {
    const { code, message } = asTirelessError(thrown)
    reply({ error: { code, message } })
  }
  socket.end()
}

/** A context whose `drain` signal also aborts when the client disconnects or the server closes. */
function whileConnected(socket: Socket, closing: AbortSignal, context: CommandContext): CommandContext {
  const disconnected = new AbortController()
  socket.once('close', () => disconnected.abort())
  if (socket.destroyed) disconnected.abort()
  const drain = AbortSignal.any([context.signals.drain, closing, disconnected.signal])
  return { ...context, signals: { ...context.signals, drain } }
}

async function readRequest(socket: Socket): Promise<{ command: unknown; input: unknown }> {
  // destroyOnReturn false: the socket stays open for the answer.
  for await (const line of splitLines(socket.iterator({ destroyOnReturn: false }))) {
    socket.resume()
    const request: unknown = JSON.parse(line)
    if (typeof request === 'object' && request !== null && 'command' in request)
      return { command: request.command, input: 'input' in request ? request.input : {} }
    break
  }
  throw new TirelessError('usage', 'expected one JSON line {command, input}')
}

/** Contract: the output of the command; undefined if no process accepted it. Throws the error of the command. */
export async function askKernel(
  path: string,
  command: string,
  input: unknown,
  tell: (progress: Progress) => void,
  /** When it aborts, the call stops waiting and returns the output null. */
  enough?: AbortSignal,
): Promise<{ readonly output: unknown } | undefined> {
  const socket = await connect(path)
  if (!socket) return undefined
  socket.write(`${JSON.stringify({ command, input })}\n`)
  enough?.addEventListener('abort', () => socket.destroy(), { once: true })
  let accepted = false
  try {
    for await (const line of splitLines(socket)) {
      const reply = JSON.parse(line) as Reply
      if ('accepted' in reply) accepted = true
      else if ('progress' in reply) tell(reply.progress)
      else if ('output' in reply) return { output: reply.output }
      else throw new TirelessError(reply.error.code in ERROR_CODES ? reply.error.code : 'internal', reply.error.message)
    }
  } catch (thrown) {
    if (thrown instanceof TirelessError) throw thrown
    // A connection that breaks is treated like one that ends.
  } finally {
    socket.destroy()
  }
  if (enough?.aborted) return { output: null }
  if (!accepted) return undefined
  throw new TirelessError('internal', {
    what: 'the process that holds the home exited before it answered',
    fix: 'check whether the command took effect (tireless queue list); if not, repeat it; with --key, that is safe',
  })
}

function connect(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(path)
    socket.once('connect', () => resolve(socket))
    socket.once('error', () => resolve(undefined))
  })
}
