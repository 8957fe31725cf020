/**
 * The home's socket: whoever holds the home runs commands for everybody else on this machine. One JSON line asks
 * (`{command, input}`); lines answer: `{accepted}`, any number of `{progress}`, then `{output}` or `{error}`. Only the owner can open it.
 */

import { chmodSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Command, Context, Progress } from '../commands/command.ts'
import { execute } from '../commands/execute.ts'
import { asTirelessError, ERROR_CODES, type ErrorCode, TirelessError } from '../domain/error.ts'

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

export async function serveSocket(path: string, commands: readonly Command[], context: Context): Promise<SocketServer> {
  rmSync(path, { force: true })
  const open = new Set<Promise<void>>()
  const server: Server = createServer((socket) => {
    const answering = answer(socket, commands, context).finally(() => open.delete(answering))
    open.add(answering)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  chmodSync(path, 0o600)
  return {
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      await Promise.all(open)
      await closed
    },
  }
}

async function answer(socket: Socket, commands: readonly Command[], context: Context): Promise<void> {
  // A client that goes away is no reason to stop: what it asked for is durable.
  socket.on('error', () => {})
  const say = (reply: Reply): void => {
    if (socket.writable) socket.write(`${JSON.stringify(reply)}\n`)
  }
  try {
    const { command, input } = await question(socket)
    const found = commands.find(({ name, place }) => name === command && place === 'home')
    if (!found)
      throw new TirelessError('usage', { what: 'the holder of the home runs no such command', got: String(command) })
    say({ accepted: true })
    say({ output: await execute(found, context, input, (progress) => say({ progress })) })
  } catch (thrown) {
    const { code, message } = asTirelessError(thrown)
    say({ error: { code, message } })
  }
  socket.end()
}

async function question(socket: Socket): Promise<{ command: unknown; input: unknown }> {
  for await (const line of createInterface({ input: socket })) {
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
): Promise<{ readonly output: unknown } | undefined> {
  const socket = await connect(path)
  if (!socket) return undefined
  socket.write(`${JSON.stringify({ command, input })}\n`)
  let accepted = false
  try {
    for await (const line of createInterface({ input: socket })) {
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
