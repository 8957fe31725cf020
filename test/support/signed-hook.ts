/** Sends a message through the signed hook of a running kernel, as a relay does. */

import { createHmac } from 'node:crypto'
import { tirelessJson } from './command-line.ts'

export async function sendSigned(home: string, secret: string, message: object, delivery: string): Promise<void> {
  const { page } = await tirelessJson<{ page: string }>(home, 'status')
  const body = JSON.stringify(message)
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  const headers = {
    'Content-Type': 'application/json',
    'X-Tireless-Timestamp': timestamp,
    'X-Tireless-Signature': `sha256=${signature}`,
    'X-Tireless-Delivery': delivery,
  }
  await fetch(new URL('/api/v1/hooks/webhook', page), { method: 'POST', headers, body })
}
