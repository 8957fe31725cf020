/** Network in the sandbox: only through the proxy of the runtime, and only where there is one. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { hostEnvs } from '../../src/adapters/envs/host/host.ts'
import { createSandbox } from '../../src/adapters/envs/sandbox/sandbox.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import type { ProxyRefusal } from '../../src/ports/egress.ts'
import { type OpenSocketProxy, type ProcessResult, requireOps } from '../../src/ports/env.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'

const PERL = '/usr/bin/perl'
/** The forwarding program: Perl if installed, otherwise Node. */
const FORWARDERS = {
  Perl: { perl: PERL, skip: existsSync(PERL) ? false : 'Perl is not installed' },
  Node: { perl: '/nowhere', skip: false },
}

interface NetworkSetup {
  readonly sockets: string[]
  /** A port of this machine. */
  readonly port: number
  run(command: string, network: boolean): Promise<ProcessResult>
}

interface SetupOptions {
  readonly perl: string
  /** The proxy; default: lets connections through to one host. */
  readonly wayOut?: OpenSocketProxy
}

async function openSetup(t: TestContext, { perl, wayOut }: SetupOptions = { perl: PERL }): Promise<NetworkSetup> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tireless-network-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  mkdirSync(join(base, 'ws'))
  const served = http.createServer((_, response) => response.end('from outside\n'))
  await new Promise<void>((resolve) => served.listen(0, '127.0.0.1', resolve))
  t.after(() => served.close())
  const { port } = served.address() as AddressInfo
  const sockets: string[] = []
  const proxyToOneHost: OpenSocketProxy = async (socket) => {
    sockets.push(socket)
    const refused: ProxyRefusal[] = []
    const proxy = http.createServer().on('connect', (request, client) => {
      if (request.url !== 'allowed.test:443') {
        refused.push({ kind: 'other', host: null, message: `${request.url} is not allowed` })
        return void client.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      }
      const far = net.connect(port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'))
      far.pipe(client).pipe(far)
    })
    await new Promise<void>((resolve) => proxy.listen(socket, resolve))
    const close = () =>
      new Promise<void>((resolve) => {
        proxy.closeAllConnections()
        proxy.close(() => resolve())
      })
    return { user: 'a user', password: 'p:w', refusals: () => refused, close }
  }
  const { launcher } = createSandbox({
    folder: join(base, 'sandbox'),
    hidden: [],
    env: process.env,
    clock: systemClock,
    perl,
  })
  const env = await hostEnvs({ callsDir: join(base, 'calls'), clock: systemClock, env: process.env, launcher }).open(
    join(base, 'ws'),
  )
  const { signal } = new AbortController()
  return {
    sockets,
    port,
    run: (command, network) =>
      requireOps(env, 'process').run('call', command, {
        timeoutMs: 60_000,
        signal,
        ...(network && { network: wayOut ?? proxyToOneHost }),
      }),
  }
}

const quoted = (script: string): string => `'${script.replaceAll("'", `'\\''`)}'`

/** The commands of a program that knows a proxy. */
const requestVia = (host: string): string => `exec 5<>/dev/tcp/127.0.0.1/3128
printf 'CONNECT ${host}:443 HTTP/1.1\\r\\nHost: ${host}\\r\\n\\r\\n' >&5
read -r first <&5; echo "$first"
case $first in *200*) read -r _ <&5; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&5; tail -n 1 <&5;; esac`

/**
 * Depending on the first letter: echoes everything at the end, speaks first and then reads, or closes the connection.
 */
function startScriptedPeer(received: string[]): OpenSocketProxy {
  return async (path) => {
    const server = net.createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {})
      socket.once('data', async (first) => {
        socket.unshift(first)
        if (first[0] === 'x'.charCodeAt(0)) return void socket.destroy()
        if (first[0] === 'f'.charCodeAt(0)) socket.end('first\n')
        const message = await text(socket).catch(() => 'broken')
        if (socket.writableEnded) received.push(message)
        else socket.end(message)
      })
    })
    await new Promise<void>((resolve) => server.listen(path, resolve))
    const close = () => new Promise<void>((resolve) => void server.close(() => resolve()))
    return { user: 'u', password: 'p', refusals: () => [], close }
  }
}

/**
 * Many connections at once, each with more data than buffers hold, closed one direction at a time. Perl can half-close
 * a connection.
 */
const PEER_CHECK = `use Socket;
sub to {
  socket(my $s, PF_INET, SOCK_STREAM, 0); connect($s, sockaddr_in(3128, INADDR_LOOPBACK)) or die $!;
  select((select($s), $| = 1)[0]); print $s shift; $s
}
sub all { my $s = shift; local $/; scalar <$s> }
my @many = map { my $s = to($_ . ('.' x 700000)); shutdown($s, 1); $s } 10 .. 49;
my $first = to('f'); print 'said ', scalar <$first>;
print 'ended ', eof($first) ? 1 : 0, qq(\\n); print $first 'heard'; shutdown($first, 1);
print 'hung up on ', length(all(to('x'))), qq(\\n);
print scalar(grep { all($many[$_ - 10]) eq $_ . ('.' x 700000) } reverse 10 .. 49), qq( came back\\n);
print all(do { my $s = to('alive'); shutdown($s, 1); $s }), qq(\\n);`

describe('network in the sandbox', { skip: WITHOUT_SANDBOX }, () => {
  for (const [name, { perl, skip }] of Object.entries(FORWARDERS)) {
    test(`with allowed hosts: programs are told of the proxy, and it is the only way out (${name})`, {
      skip,
    }, async (t) => {
      const { run, port, sockets } = await openSetup(t, { perl })
      const allowed = await run(requestVia('allowed.test'), true)
      assert.match(allowed.output, /200 OK\r?\nfrom outside\n$/)
      const refused = await run(requestVia('other.test'), true)
      assert.match(refused.output, /403 Forbidden.*\[other\.test:443 is not allowed\]/s)
      const settings = await run('echo $http_proxy $https_proxy $no_proxy; jobs; wait; echo waited', true)
      assert.match(settings.output, /^(http:\/\/a%20user:p%3Aw@127\.0\.0\.1:3128 ){2}localhost\S*\nwaited\n$/)
      assert.notEqual((await run(`exec 5<>/dev/tcp/127.0.0.1/${port}`, true)).exit, 0)
      // One forwarder each, and none of them is left.
      assert.equal(new Set(sockets).size, 4)
      for (const socket of sockets) assert.equal(existsSync(dirname(socket)), false)
    })

    test(`many connections of any size at once; half-closes and resets are forwarded (${name})`, {
      skip: FORWARDERS.Perl.skip,
    }, async (t) => {
      const received: string[] = []
      const { run } = await openSetup(t, { perl, wayOut: startScriptedPeer(received) })
      const { output } = await run(`perl -e ${quoted(PEER_CHECK)}`, true)
      assert.equal(output, 'said first\nended 1\nhung up on 0\n40 came back\nalive\n')
      assert.deepEqual(received, ['fheard'])
    })
  }

  test('a command without permission gets no network', async (t) => {
    const { run, sockets } = await openSetup(t)
    const { output } = await run(`${requestVia('allowed.test')}; echo "[$http_proxy]"; ls -A /run`, false)
    assert.match(output, /Connection refused/)
    assert.match(output, /\[\]\n$/)
    assert.deepEqual(sockets, [])
  })
})
