/** A WebSocket client of a source. */

import { WebSocket } from 'ws'
import type { Json } from '../../src/domain/json.ts'
import { signBody } from '../../src/ports/signed-request.ts'
import { waitUntil } from './open-app.ts'
import { SECRET } from './source-app.ts'

export interface SourceClient {
  readonly socket: WebSocket
  /** Sends a frame. Contract: resolves with the next answer. */
  ask(frame: Json | Buffer): Promise<Record<string, Json>>
  readonly answers: readonly Record<string, Json>[]
  /** The code with which the connection was closed. */
  readonly closed: Promise<number>
}

let lastSecond = Math.floor(Date.now() / 1000) - 100

/** A signature opens one connection, so each gets a second of its own. */
export function signature(secret = SECRET): { readonly timestamp: string; readonly signature: string } {
  lastSecond += 1
  const timestamp = String(lastSecond)
  return { timestamp, signature: signBody(secret, timestamp, '') }
}

export const signedUpgrade = (secret?: string): Record<string, string> => {
  const { timestamp, signature: proof } = signature(secret)
  return { 'x-tireless-timestamp': timestamp, 'x-tireless-signature': proof }
}

/** Contract: connected when it resolves; rejects with the status and body of a refusal. */
export function connectSource(
  { port }: { readonly port: number },
  name: string,
  { headers = signedUpgrade(), query = '' }: { headers?: Record<string, string>; query?: string } = {},
): Promise<SourceClient> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/v1/hooks/${name}${query}`, { headers })
  const answers: Record<string, Json>[] = []
  socket.on('message', (data: Buffer) => answers.push(JSON.parse(data.toString('utf8'))))
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.once('unexpected-response', (_, response) => {
      void response.toArray().then((parts) => reject(new Error(`${response.statusCode} ${Buffer.concat(parts)}`)))
    })
    socket.once('open', () =>
      resolve({
        ...{ socket, answers, closed },
        async ask(frame) {
          const count = answers.length
          socket.send(Buffer.isBuffer(frame) || typeof frame === 'string' ? frame : JSON.stringify(frame))
          await waitUntil(() => answers.length > count)
          return answers[count] ?? {}
        },
      }),
    )
  })
}
