/** The long connections of the server: pings, events in frames, acknowledgements, and events that are sent again. */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { decodeFrame, encodeFrame, type Frame } from './frames.ts'
import { clientConfig } from './routes.ts'
import type { LarkServerState } from './state.ts'

/** The answer to an event: 200, or 500 if it has to come again; `data` is what the handler returned. */
export interface Acknowledgement {
  readonly code: number
  readonly data: unknown
  /** How often the event was sent. */
  readonly attempts: number
}

interface OpenEvent {
  readonly id: string
  readonly payload: Buffer
  attempts: number
  timer: NodeJS.Timeout | undefined
  acknowledge(answer: Acknowledgement): void
}

export class LarkSockets {
  readonly #state: LarkServerState
  readonly #server = new WebSocketServer({ noServer: true })
  readonly #open = new Set<WebSocket>()
  readonly #events = new Map<string, OpenEvent>()
  /** Frames that were received, decoded. */
  readonly received: Frame[] = []
  /** How often events were sent. */
  sent = 0
  /** How many connections were made. */
  connections = 0
  /** While set, nothing is answered and nothing is sent, and no connection is closed. */
  isSilent = false
  /** Answers of clients that are not 200 are not the end: the event is sent again, if set. */
  repeatsFailed = true

  constructor(state: LarkServerState) {
    this.#state = state
  }

  get openCount(): number {
    return this.#open.size
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (connection) => {
      this.connections += 1
      this.#open.add(connection)
      connection.on('message', (data: RawData) => this.#receive(connection, decodeFrame(data as Buffer)))
      connection.on('error', () => {})
      connection.on('close', () => this.#open.delete(connection))
      // The client listens a moment after the handshake.
      setImmediate(() => this.sendOpenEvents())
    })
  }

  /** Contract: resolves when a client has acknowledged the event; it is sent again until then. */
  deliver(event: object): Promise<Acknowledgement> {
    return new Promise((resolve) => {
      const open: OpenEvent = {
        ...{ id: this.#state.nextId('message'), payload: Buffer.from(JSON.stringify(event)), attempts: 0 },
        ...{ timer: undefined, acknowledge: resolve },
      }
      this.#events.set(open.id, open)
      this.#send(open)
    })
  }

  sendOpenEvents(): void {
    for (const event of this.#events.values()) this.#send(event)
  }

  closeAll(): void {
    for (const connection of this.#open) connection.terminate()
  }

  stop(): void {
    for (const { timer } of this.#events.values()) clearTimeout(timer)
    this.#events.clear()
    this.closeAll()
  }

  #send(event: OpenEvent): void {
    clearTimeout(event.timer)
    const connection = [...this.#open].at(-1)
    if (!connection || this.isSilent) return
    event.attempts += 1
    this.sent += 1
    const { chunkBytes = 1_000_000, ackMs = 3000 } = this.#state.options
    const sum = Math.max(1, Math.ceil(event.payload.length / chunkBytes))
    for (let seq = 0; seq < sum; seq += 1) {
      const payload = event.payload.subarray(seq * chunkBytes, (seq + 1) * chunkBytes)
      const place = { message_id: event.id, sum: String(sum), seq: String(seq) }
      this.#write(connection, 1, { type: 'event', trace_id: `trace-${event.id}`, ...place }, payload)
    }
    event.timer = setTimeout(() => this.#send(event), ackMs)
  }

  #write(connection: WebSocket, method: number, headers: Frame['headers'], payload: Buffer): void {
    const [seqId, logId, service] = [BigInt(Date.now()), 9_007_199_254_740_993n, 33_554_678]
    connection.send(encodeFrame({ seqId, logId, service, method, headers, payload }))
  }

  #receive(connection: WebSocket, frame: Frame): void {
    this.received.push(frame)
    if (this.isSilent) return
    if (frame.method === 0 && frame.headers.type === 'ping') {
      const config = Buffer.from(JSON.stringify(clientConfig(this.#state)))
      this.#write(connection, 0, { type: 'pong' }, config)
    }
    const event = this.#events.get(frame.headers.message_id ?? '')
    if (frame.method !== 1 || !event) return
    const { code, data } = JSON.parse(frame.payload.toString()) as { code: number; data?: string }
    clearTimeout(event.timer)
    if (code !== 200 && this.repeatsFailed) {
      event.timer = setTimeout(() => this.#send(event), 10)
      return
    }
    this.#events.delete(event.id)
    const returned: unknown = data === undefined ? undefined : JSON.parse(Buffer.from(data, 'base64').toString())
    event.acknowledge({ code, data: returned, attempts: event.attempts })
  }
}
