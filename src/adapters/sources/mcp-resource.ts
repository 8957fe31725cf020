/**
 * The source `mcp_resource`: an event with the text of an MCP server's resource whenever the text has changed. The
 * server's report wakes it; it also polls, because not every server reports and reports can be lost.
 */

import { hash } from 'node:crypto'
import { clipText } from '../../domain/clean-summary.ts'
import type { Label } from '../../domain/label.ts'
import type { Clock } from '../../ports/clock.ts'
import type { McpServers } from '../../ports/mcp.ts'
import type { Source, SourceSink } from '../../ports/source.ts'

interface ResourceOptions {
  readonly name: string
  readonly server: string
  readonly uri: string
  readonly pollMs: number
  readonly mostCharacters: number
  readonly label: Label
  readonly clock: Clock
  readonly mcp: Pick<McpServers, 'readResource' | 'subscribeResource'>
}

/** Least time between two reads: a server may report a change at each read. */
const LEAST_PAUSE_MS = 250

export function mcpResourceSource(options: ResourceOptions): Source {
  const { name, server, uri, pollMs, clock, mcp } = options
  return {
    ...{ name, type: 'mcp_resource' },
    async run(sink, signal) {
      const wake = { now: () => {}, isDue: false }
      const onChange = (): void => {
        wake.isDue = true
        wake.now()
      }
      let known = await sink.mark()
      while (!signal.aborted) {
        wake.isDue = false
        // Each time, because a restarted server knows no subscription.
        await mcp.subscribeResource(server, uri, onChange, signal)
        const text = await mcp.readResource(server, uri, signal)
        if (signal.aborted) return
        const digest = hash('sha256', text)
        if (known === null) await sink.saveMark(digest)
        else if (known !== digest) await publishText(options, sink, text, `${known} ${digest}`)
        known = digest
        await clock.sleep(LEAST_PAUSE_MS, signal)
        if (wake.isDue) continue
        const woken = new AbortController()
        wake.now = () => woken.abort()
        await clock.sleep(pollMs - LEAST_PAUSE_MS, AbortSignal.any([signal, woken.signal]))
      }
    },
  }
}

/** `id`: names the change, so that a text that comes back later is reported again. */
async function publishText(options: ResourceOptions, sink: SourceSink, text: string, id: string): Promise<void> {
  const { server, uri, mostCharacters, label, clock } = options
  const payload = { server, uri, text: clipText(text, mostCharacters) }
  await sink.publish({
    ...{ id: `${id} ${clock.now()}`, observation: { type: 'system_event', name: 'resource_changed', payload }, label },
    mark: hash('sha256', text),
  })
}
