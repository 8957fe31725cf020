// A resident that hears signed HTTP messages and watches a folder.
// Run it: node_modules/.bin/node examples/06-resident.ts
import { createHmac, randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from 'tireless'

const home = process.env.TIRELESS_HOME ?? './.tireless'
mkdirSync(join(home, 'inbox'), { recursive: true })
const secret = 'open sesame'
const sources = { door: { type: 'webhook', secret, trusted: true }, drop: { type: 'files', paths: ['inbox'] } }
const residents = [{ agent_id: 'keeper', hz: 5, slots: ['room'], sources: ['door', 'drop'] }]
writeFileSync(join(home, 'tireless.yaml'), JSON.stringify({ residents, sources, server: { port: 0 } }))

const app = await createApp({ home })
app.service('bus').onAction(({ agent, action, text }) => {
  console.log(`${agent} ${action} ${text}`.trim())
  if (action === 'query') writeFileSync(join(home, 'inbox', 'parcel.txt'), 'a parcel')
  else app.run('stop', {})
})
await app.run('start', {}, async (progress) => {
  // The first note names the page.
  const [page] = (progress.kind === 'note' && /http:\/\/127[\d.:]+/.exec(progress.text)) || []
  if (!page) return
  const [body, time] = [JSON.stringify({ text: 'Where do I put it?' }), String(Math.floor(Date.now() / 1000))]
  const signature = `sha256=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`
  const headers = {
    ...{ 'Content-Type': 'application/json', 'X-Tireless-Delivery': randomUUID() },
    ...{ 'X-Tireless-Timestamp': time, 'X-Tireless-Signature': signature },
  }
  await fetch(`${page}/api/v1/hooks/door`, { method: 'POST', body, headers })
})
await app.close()
