/** One address for a cluster: forwards each connection to the node that was the primary when last asked. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { ClusterNode, PatroniCluster } from './patroni-cluster.ts'

export interface LeaderProxy {
  readonly port: number
  close(): Promise<void>
}

const ASK_EVERY_MS = 200

export async function openLeaderProxy(cluster: PatroniCluster): Promise<LeaderProxy> {
  const open = new Set<Socket>()
  const closing = new AbortController()
  let leader = await cluster.leader()
  const following = followLeader(cluster, closing.signal, (node) => {
    leader = node
  })
  const server = createServer((client) => {
    open.add(client)
    client.on('close', () => open.delete(client)).on('error', () => {})
    if (leader === undefined) return client.destroy()
    const upstream = connect(leader.port, '127.0.0.1')
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.on('close', () => upstream.destroy())
    client.pipe(upstream).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      closing.abort()
      server.close()
      for (const socket of open) socket.destroy()
      await following
    },
  }
}

async function followLeader(
  cluster: PatroniCluster,
  closed: AbortSignal,
  onLeader: (node: ClusterNode) => void,
): Promise<void> {
  while (!closed.aborted) {
    const node = await cluster.leader()
    if (node) onLeader(node)
    await setTimeout(ASK_EVERY_MS)
  }
}
