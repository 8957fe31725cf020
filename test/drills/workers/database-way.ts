/** The way of one process to the database: a proxy that can be cut, or swallow all packets as a half-open one does. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** `silent`: connections stay open, and nothing arrives. */
type WayState = 'open' | 'cut' | 'silent'

interface Pair {
  readonly client: Socket
  readonly server: Socket
}

export class DatabaseWay {
  readonly #target: URL
  readonly #listener: Server
  readonly #pairs = new Set<Pair>()
  #state: WayState = 'open'

  private constructor(target: URL) {
    this.#target = target
    this.#listener = createServer((client) => this.#connect(client))
  }

  static async open(url: string): Promise<DatabaseWay> {
    const way = new DatabaseWay(new URL(url))
    way.#listener.listen(0, '127.0.0.1')
    await once(way.#listener, 'listening')
    return way
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** `name`: the database shows it for each connection. */
  urlFor(name: string): string {
    const { port } = this.#listener.address() as AddressInfo
    const url = Object.assign(new URL(this.#target), { port: String(port) })
    url.searchParams.set('application_name', name)
    return url.href
  }

  cut(): void {
    this.#state = 'cut'
    this.#destroyAll()
  }

  silence(): void {
    this.#state = 'silent'
    for (const { client, server } of this.#pairs) for (const socket of [client, server]) socket.pause()
  }

  /** `late`: what was held back while the way was silent arrives now; else it is lost. */
  restore(late: boolean): void {
    this.#state = 'open'
    if (!late) this.#destroyAll()
    for (const { client, server } of this.#pairs) for (const socket of [client, server]) socket.resume()
  }

  close(): void {
    this.#listener.close()
    this.#destroyAll()
  }

  #connect(client: Socket): void {
    if (this.#state === 'cut') return void client.resetAndDestroy()
    const server = connect(Number(this.#target.port), this.#target.hostname)
    const pair = { client, server }
    this.#pairs.add(pair)
    const end = (): void => {
      this.#pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', end).on('close', end)
    client.on('data', (chunk) => server.write(chunk))
    server.on('data', (chunk) => client.write(chunk))
    if (this.#state === 'silent') for (const socket of [client, server]) socket.pause()
  }

  #destroyAll(): void {
    for (const { client, server } of [...this.#pairs]) {
      client.destroy()
      server.destroy()
    }
  }
}
