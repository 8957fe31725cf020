/**
 * The home's socket: whoever holds the home runs commands for everybody else on this machine. One JSON line asks
 * (`{command, input}`); lines answer: `{accepted}`, any number of `{progress}`, then `{output}` or `{error}`. Only the owner can open it.
 */

import { chmodSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import type { Command, Context, Progress } from '../commands/command.ts'
import { execute } from '../commands/execute.ts'
import { asTirelessError, ERROR_CODES, type ErrorCode, TirelessError } from '../domain/error.ts'
import { splitLines } from './lines.ts'

type Reply =
  /** Said before anything is done: without it, nothing was, and the question may be asked again. */
  | { readonly accepted: true }
  | { readonly progress: Progress }
  | { readonly output: unknown }
  | { readonly error: { readonly code: ErrorCode; readonly message: string } }

export interface SocketServer {
  /** Contract: takes no new question, lets the open ones be answered. */
  close(): Promise<void>
}

export type Find = (name: string) => Promise<Command | undefined>

export async function serveSocket(path: string, find: Find, context: Context): Promise<SocketServer> {
  rmSync(path, { force: true })
  const open = new Set<Promise<void>>()
  const closing = new AbortController()
  const server: Server = createServer((socket) => {
    const answering = answer(socket, find, context, closing.signal).finally(() => open.delete(answering))
    open.add(answering)
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

async function answer(socket: Socket, find: Find, context: Context, closing: AbortSignal): Promise<void> {
  // A client that goes away is no reason to stop: what it asked for is durable.
  socket.on('error', () => {})
  const say = (reply: Reply): void => {
    if (socket.writable) socket.write(`${JSON.stringify(reply)}\n`)
  }
  try {
    const { command, input } = await question(socket)
    const found = await find(String(command))
    if (found?.runsIn !== 'any_process' && found?.runsIn !== 'kernel')
      throw new TirelessError('usage', { what: 'the holder of the home runs no such command', got: String(command) })
    say({ accepted: true })
    const asked = found.runsIn === 'kernel' ? asLongAs(socket, closing, context) : context
    say({ output: await execute(found, asked, input, (progress) => say({ progress })) })
  } catch (thrown) {
    const { code, message } = asTirelessError(thrown)
    say({ error: { code, message } })
  }
  socket.end()
}

/** For a command that ends when nobody listens any more, or nobody may. */
function asLongAs(socket: Socket, closing: AbortSignal, context: Context): Context {
  const gone = new AbortController()
  socket.once('close', () => gone.abort())
  if (socket.destroyed) gone.abort()
  const drain = AbortSignal.any([context.signals.drain, closing, gone.signal])
  return { ...context, signals: { ...context.signals, drain } }
}

async function question(socket: Socket): Promise<{ command: unknown; input: unknown }> {
  // Still open for the answer.
  for await (const line of splitLines(socket.iterator({ destroyOnReturn: false }))) {
    socket.resume()
    const asked: unknown = JSON.parse(line)
    if (typeof asked === 'object' && asked !== null && 'command' in asked)
      return { command: asked.command, input: 'input' in asked ? asked.input : {} }
    break
  }
  throw new TirelessError('usage', 'expected one JSON line {command, input}')
}

/** Contract: undefined when nobody took the question; otherwise the command's output, or its error thrown. */
export async function askHolder(
  path: string,
  command: string,
  input: unknown,
  tell: (progress: Progress) => void,
  /** When aborted, nobody wants to know any more: null. */
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
    // The connection broke: the same as its end.
  } finally {
    socket.destroy()
  }
  if (enough?.aborted) return { output: null }
  if (!accepted) return undefined
  throw new TirelessError('internal', {
    what: 'the process that holds the home went away before it answered',
    fix: 'look whether it was done (queue list), and run the command again if not; with --key, running it again is safe',
  })
}

function connect(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(path)
    socket.once('connect', () => resolve(socket))
    socket.once('error', () => resolve(undefined))
  })
}
