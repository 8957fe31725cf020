/** Messages between the processes of the HTTP suite, sent over Node's IPC channel. */

export interface ServerOrder {
  readonly folder: string
  /** Characters of each tool result in the background session. */
  readonly resultSize: number
  /** Steps that the background session has done when the server is ready; then it waits. */
  readonly past: number
}

export interface ServerReady {
  readonly kind: 'ready'
  readonly url: string
  readonly token: string
}

/** Requests to the server. reset: start measuring; wake: continue the background session; read: report the values. */
export type ServerRequest = { readonly kind: 'reset' | 'wake' | 'read' }

/** Measured since the last reset. */
export interface ServerUse {
  readonly kind: 'use'
  readonly cpuMs: number
  /** Delay of timers. */
  readonly loopP50Ms: number
  readonly loopP99Ms: number
  readonly loopMaxMs: number
  /** Steps of the background session. */
  readonly steps: number
}

export interface LoadOrder {
  readonly url: string
  readonly token: string
  readonly perSecond: number
  readonly seconds: number
}
