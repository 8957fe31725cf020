/** An MCP server with one resource, the text of a file: resource-server-main.ts FILE [silent | restless] */

import { readFileSync, watchFile } from 'node:fs'
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const [, , file = '', how] = process.argv
const URI = 'note://today'

serveStdio(() => {
  const server = new Server(
    { name: 'notes', version: '1' },
    { capabilities: { resources: how === 'silent' ? {} : { subscribe: true } } },
  )
  server.setRequestHandler('resources/list', () => ({ resources: [{ uri: URI, name: 'today' }] }))
  server.setRequestHandler('resources/read', async () => {
    // The text of a restless server is the time of the read, so it changes at each one.
    if (how === 'restless') await server.sendResourceUpdated({ uri: URI })
    const text = how === 'restless' ? `${Math.floor(performance.now())}` : readFileSync(file, 'utf8')
    return { contents: [{ uri: URI, mimeType: 'text/plain', text }] }
  })
  if (how !== 'silent') {
    server.setRequestHandler('resources/subscribe', () => ({}))
    watchFile(file, { interval: 20 }, () => void server.sendResourceUpdated({ uri: URI }).catch(() => {}))
  }
  return server
})
