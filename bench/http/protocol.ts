/** What the processes of the HTTP suite say to each other, each message one JSON object over the channel that Node gives a child. */

export interface ServerOrder {
  readonly folder: string
  /** Characters of what the tool of the session beside says, a step. */
  readonly resultSize: number
  /** Steps that the session beside has behind it, and waits, when the server is ready. */
  readonly past: number
}

export interface ServerReady {
  readonly kind: 'ready'
  readonly url: string
  readonly token: string
}

/** To the server: begin to measure; let the session beside go on; say what there is. */
export type ServerRequest = { readonly kind: 'reset' | 'wake' | 'read' }

/** Of the time since the last reset. */
export interface ServerUse {
  readonly kind: 'use'
  readonly cpuMs: number
  /** How much later than asked for a timer came. */
  readonly loopP50Ms: number
  readonly loopP99Ms: number
  readonly loopMaxMs: number
  /** Steps of the session beside. */
  readonly steps: number
}

export interface LoadOrder {
  readonly url: string
  readonly token: string
  readonly perSecond: number
  readonly seconds: number
}

/** What one request took, in milliseconds. */
export type Latencies = readonly number[]
