/** A git remote on this machine, over HTTP, for tests. */

import { execFileSync, spawn } from 'node:child_process'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { freshFolder } from '../support/open-app.ts'

export const inGit = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=owner', '-c', 'user.email=owner@x', ...args], {
    encoding: 'utf8',
  }).trim()

/** Serves a bare repository with git's own HTTP backend. */
export async function serveRepository(
  t: TestContext,
): Promise<{ readonly port: number; readonly folder: string; readonly asked: string[] }> {
  const parent = freshFolder(t, 'remote')
  const folder = join(parent, 'r.git')
  inGit(parent, 'init', '-q', '--bare', '-b', 'main', folder)
  inGit(folder, 'config', 'http.receivepack', 'true')
  const asked: string[] = []
  const server = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
    const env = {
      ...{
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: parent,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: pathname,
        QUERY_STRING: searchParams.toString(),
      },
      ...{
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        REMOTE_ADDR: '127.0.0.1',
        GIT_PROTOCOL: request.headers['git-protocol']?.toString() ?? '',
      },
      ...(request.headers['content-encoding']
        ? { HTTP_CONTENT_ENCODING: String(request.headers['content-encoding']) }
        : {}),
    }
    const backend = spawn('git', ['http-backend'], { env })
    request.pipe(backend.stdin)
    const chunks: Buffer[] = []
    backend.stdout.on('data', (data) => chunks.push(data))
    backend.on('close', () => {
      const whole = Buffer.concat(chunks)
      const end = whole.indexOf('\r\n\r\n')
      const headers = whole
        .subarray(0, end)
        .toString()
        .split('\r\n')
        .map((line) => line.split(': ') as [string, string])
      const status = Number(headers.find(([name]) => name === 'Status')?.[1]?.slice(0, 3) ?? 200)
      response
        .writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== 'Status')))
        .end(whole.subarray(end + 4))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, folder, asked }
}
