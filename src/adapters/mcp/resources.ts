/** Resources of a connected server: reads their text, and hears when the server reports a change. */

import type { Client } from '@modelcontextprotocol/client'

export interface ResourceAccess {
  /** Contract: the texts of a resource, one after the other; of binary content only the size. */
  read(uri: string, signal: AbortSignal): Promise<string>
  /**
   * Contract: calls `onChange` when the server reports a change, until `signal` aborts. False: the server cannot report
   * changes. A second call for the same listener changes nothing while its subscription lasts.
   */
  subscribe(uri: string, onChange: () => void, signal: AbortSignal): Promise<boolean>
}

export function createResourceAccess(client: Client, timeout: number): ResourceAccess {
  const listeners = new Map<string, Set<() => void>>()
  const subscribed = new Set<string>()
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    for (const onChange of listeners.get(params.uri) ?? []) onChange()
  })
  return {
    async read(uri, signal) {
      const { contents } = await client.readResource({ uri }, { timeout, signal, cacheMode: 'refresh' })
      return contents
        .map((part) => ('text' in part ? part.text : `(binary, ${part.blob.length} characters)`))
        .join('\n')
    },
    async subscribe(uri, onChange, signal) {
      if (client.getServerCapabilities()?.resources?.subscribe !== true) return false
      const known = listeners.get(uri) ?? new Set()
      if (known.has(onChange) && subscribed.has(uri)) return true
      listeners.set(uri, known.add(onChange))
      signal.addEventListener('abort', () => known.delete(onChange), { once: true })
      subscribed.add(uri)
      if (client.getProtocolEra() !== 'modern') await client.subscribeResource({ uri }, { timeout, signal })
      else {
        const { closed } = await client.listen({ resourceSubscriptions: [uri] }, { timeout, signal })
        // When the subscription ends, assume a change: later ones are not reported.
        void closed.then(() => {
          subscribed.delete(uri)
          onChange()
        })
      }
      return true
    },
  }
}
