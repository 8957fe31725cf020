/**
 * Attacks on the proxy of a command, on the folder it reports, and on the kernel by pipes and floods: nothing gets
 * through, and the kernel keeps working. Real commands in the real sandbox, one app for all.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { describe, type TestContext, test } from 'node:test'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { call } from '../support/approval-fixtures.ts'
import { resultsOf } from '../support/fake-tools.ts'
import { freshFolder, openApp, runTaskIn } from '../support/open-app.ts'
import { WITHOUT_SANDBOX } from '../support/sandbox-available.ts'
import { fakeDns, startSite } from '../support/serve-pages.ts'

/** `AUTH` stands for the credential of the command. The proxy may hang up before the shell has written everything. */
const PRELUDE = `way=\${http_proxy#http://}; auth="Proxy-Authorization: Basic $(printf %s "\${way%@*}" | base64 -w 0)"
trap '' PIPE
say() {
  text=$1; exec 5<>/dev/tcp/127.0.0.1/3128; printf '%b' "\${text//AUTH/$auth}" >&5
  timeout 10 cat <&5; exec 5>&-; echo
}`

const escaped = (text: string): string => {
  const escapes = { '\\': '\\\\\\\\', '\r': '\\r', '\n': '\\n', '\0': '\\0', '\t': '\\t' }
  const word = Object.entries(escapes).reduce((done, [from, to]) => done.replaceAll(from, to), text)
  return `say '${word}'`
}

const UNREACHABLE_HOST = 'never.test'

/** `AUTH` stands for the credential of the proxy. */
const AUTH = 'AUTH\r\nConnection: close\r\n\r\n'

/** Requests that name an open host and mean another; `PORT` is open at one host name only. */
const attackRequests = (port: number): readonly string[] => [
  ...tunnelRequests(port),
  ...addressRequests(port),
  ...malformedRequests(port),
]

function tunnelRequests(port: number): readonly string[] {
  const open = `open.test:${port}`
  const places = [
    ...[
      `127.0.0.1:${port}`,
      `127.1:${port}`,
      `0x7f000001:${port}`,
      `017700000001:${port}`,
      `2130706433:${port}`,
      `0:${port}`,
    ],
    ...[
      `[::1]:${port}`,
      `[::ffff:127.0.0.1]:${port}`,
      `[::ffff:7f00:1]:${port}`,
      `[0:0:0:0:0:0:0:1%lo]:${port}`,
      `localhost:${port}`,
    ],
    ...[
      `LOCALHOST:${port}`,
      `localhost.:${port}`,
      `${UNREACHABLE_HOST}:${port}`,
      `open.test.:${port}`,
      `open.test@127.0.0.1:${port}`,
      `open.test\t127.0.0.1:${port}`,
    ],
    ...[
      `open.test:22`,
      'open.test:53',
      '8.8.8.8:53',
      'dns.google:853',
      `open.test:${port}@${UNREACHABLE_HOST}:${port}`,
      `http://${UNREACHABLE_HOST}:${port}`,
    ],
    ...[
      `open.test\0.${UNREACHABLE_HOST}:${port}`,
      `open.test%00.${UNREACHABLE_HOST}:${port}`,
      `${UNREACHABLE_HOST}:${port}#${open}`,
      `${UNREACHABLE_HOST}:${port}/${open}`,
    ],
  ]
  return places.map((place) => `CONNECT ${place} HTTP/1.1\r\nHost: ${open}\r\n${AUTH}GET /canary HTTP/1.1\r\n\r\n`)
}

function addressRequests(port: number): readonly string[] {
  const open = `open.test:${port}`
  const urls = [
    ...[
      `http://${UNREACHABLE_HOST}:${port}/canary`,
      `http://${open}@${UNREACHABLE_HOST}:${port}/canary`,
      `http://${UNREACHABLE_HOST}:${port}@${open}:x/canary`,
    ],
    ...[
      `http://${UNREACHABLE_HOST}:${port}\\@${open}/canary`,
      `http://127.0.0.1:${port}/canary`,
      `http:/${UNREACHABLE_HOST}:${port}/canary`,
      `http:${UNREACHABLE_HOST}:${port}/canary`,
    ],
    ...[
      `//${UNREACHABLE_HOST}:${port}/canary`,
      '/canary',
      `ftp://${open}/canary`,
      `file:///etc/passwd`,
      `https://${open}/canary`,
      `gopher://${open}/canary`,
    ],
    ...[
      `http://${open}%2f@${UNREACHABLE_HOST}:${port}/canary`,
      `http://${open}#@${UNREACHABLE_HOST}:${port}/canary`.replace(open, UNREACHABLE_HOST),
    ],
  ]
  return urls.map((url) => `GET ${url} HTTP/1.1\r\nHost: ${open}\r\n${AUTH}`)
}

/** Several requests on one connection, contradicting headers, and other protocols. */
function malformedRequests(port: number): readonly string[] {
  const open = `open.test:${port}`
  return [
    // A second host on the same connection, and text after the first request.
    [
      `GET http://${open}/first HTTP/1.1\r\nHost: ${open}\r\nAUTH\r\n\r\nGET`,
      `http://${UNREACHABLE_HOST}:${port}/canary HTTP/1.1\r\nHost: ${UNREACHABLE_HOST}\r\n${AUTH}`,
    ].join(' '),
    // One that is known, then one that is not.
    [
      `GET http://${open}/first HTTP/1.1\r\nHost: ${open}\r\nAUTH\r\n\r\nGET http://${open}/canary`,
      `HTTP/1.1\r\nHost: ${open}\r\nConnection: close\r\n\r\n`,
    ].join(' '),
    [
      `GET http://${open}/canary HTTP/1.1\r\nHost: ${open}\r\nConnection: close\r\nProxy-Authorization: Basic`,
      `AAAA\r\n\r\n`,
    ].join(' '),
    // Two lengths, a length and pieces, a line break in a header, an upgrade to another protocol.
    [
      `POST http://${open}/canary HTTP/1.1\r\nHost: ${open}\r\nContent-Length: 4\r\nContent-Length:`,
      `60\r\n${AUTH}GET /canary HTTP/1.1\r\n\r\n`,
    ].join(' '),
    [
      `POST http://${open}/canary HTTP/1.1\r\nHost: ${open}\r\nContent-Length: 4\r\nTransfer-Encoding:`,
      `chunked\r\n${AUTH}0\r\n\r\nGET /canary HTTP/1.1\r\n\r\n`,
    ].join(' '),
    `GET http://${open}/canary HTTP/1.1\r\nHost: ${open}\r\nX: a\r\n b: c\rGET /canary HTTP/1.1\r\n${AUTH}`,
    `GET http://${open}/canary\rHost: ${UNREACHABLE_HOST} HTTP/1.1\r\nHost: ${open}\r\n${AUTH}`,
    `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
  ]
}

/** The results of these commands; `port`: they may reach only one of two allowed hosts there. */
async function runCommands(t: TestContext, commands: readonly string[], port?: number): Promise<readonly string[]> {
  const [open, other] = [`open.test:${port}`, `${UNREACHABLE_HOST}:${port}`]
  const model = scriptedModel((_, turn) => {
    const command = commands[turn]
    if (command === undefined) return { text: 'done' }
    return { calls: [call('bash', { command, ...(port !== undefined && { network: [open] }) })] }
  })
  const policy =
    port === undefined ? {} : { allow_hosts: [open, other], grants: [{ tool: 'bash', to: [`network ${open}`] }] }
  const resolve = fakeDns({ 'open.test': '127.0.0.1', [UNREACHABLE_HOST]: '127.0.0.1' })
  const app = await openApp(t, { model, resolve, yaml: `policy: ${JSON.stringify(policy)}` })
  const { session_id, workspace } = await runTaskIn(app)
  const results = (await resultsOf(app, session_id)).map(({ content }) => content)
  return results.map((text) => text.replaceAll(workspace, 'WORKSPACE'))
}

describe('attacks of a command', { skip: WITHOUT_SANDBOX }, () => {
  test('Q8: no spelling, second request or other protocol reaches another host through the proxy', async (t) => {
    const site = await startSite(t, (_, response) => response.end('hello'))
    const all = attackRequests(site.port)
    const headers = [
      `GET http://open.test:${site.port}/host HTTP/1.1\r\nHost: ${UNREACHABLE_HOST}\r\nX-Forwarded-Host:`,
      `${UNREACHABLE_HOST}\r\nAUTH\r\nConnection: close\r\n\r\n`,
    ].join(' ')
    const [results = ''] = await runCommands(
      t,
      [[PRELUDE, ...[...all, headers].map(escaped), 'echo over'].join('\n')],
      site.port,
    )
    assert.match(results, /over/)
    assert.deepEqual(
      site.requests.filter((line) => line.includes('canary')),
      [],
    )
    assert.ok(
      site.requests.includes(`GET open.test:${site.port}/host`),
      'the host is taken from the address, whatever the header says',
    )
    assert.equal(site.requests.filter((line) => line.includes('/first')).length, 2, 'the open host is served')
  })

  test('Q8: thousands of connections exhaust no descriptors, and the next command has its network', async (t) => {
    const site = await startSite(t, (_, response) => response.end('hello'))
    const flood = [
      `perl -MSocket -e 'my @s; for (1 .. 3000) { socket(my $s, AF_UNIX, SOCK_STREAM, 0) or last;`,
      `connect($s, pack_sockaddr_un("/run/proxy")) or last;`,
      `push @s, $s } print scalar(@s) > 100 ? "many\\n" : "few\\n"; my $n; for (1 .. 300) { $n = 0; for (@s) {`,
      `my $r = ""; vec($r, fileno $_, 1) = 1; $n++ unless select($r, undef, undef, 0) } last if $n <= 256;`,
      `select(undef, undef, undef, 0.1) } print $n <= 256 ? "bounded\\n" : "unbounded $n\\n"'`,
    ].join(' ')
    const request = `GET http://open.test:${site.port}/after HTTP/1.1\r\nHost: x\r\nAUTH\r\nConnection: close\r\n\r\n`
    const get = `${PRELUDE}\n${escaped(request)}`
    const [first = '', second = ''] = await runCommands(t, [`ulimit -n 4096; ${flood}`, get], site.port)
    assert.match(first, /many\nbounded/)
    assert.match(second, /200 OK.*hello/s)
  })

  test('Q9: the folder that a command reports is always in its workspace', async (t) => {
    const outside = freshFolder(t, 'outside')
    const forged = [
      outside,
      '/',
      '/etc',
      '../..',
      `$PWD/way`,
      '$PWD/../..',
      '/proc/self/root',
      `$PWD/${'x/'.repeat(3000)}`,
    ]
    const commands = forged.flatMap((path) => [`ln -sfn ${outside} way; trap - EXIT; echo "${path}" >&199`, 'pwd -P'])
    const results = await runCommands(t, commands)
    assert.deepEqual(
      results.filter((_, at) => at % 2 === 1).map((text) => text.split('\n')[0]),
      forged.map(() => 'WORKSPACE'),
    )
  })

  test('Q8: kill -1 ends nothing outside, and named pipes do not block the kernel', async (t) => {
    const outside = spawn('sleep', ['4243'], { stdio: 'ignore' })
    t.after(() => outside.kill('SIGKILL'))
    const [, pipes = '', after = ''] = await runCommands(t, [
      'kill -9 -1',
      [
        'mkfifo .gitignore .mcp.json CLAUDE.md; mkdir -p r/.git x; mkfifo r/.git/config r/.git/HEAD x/.git;',
        'ln -s /dev/zero zero; ln -s loop loop',
      ].join(' '),
      'ls -A',
    ])
    assert.deepEqual(
      { exitCode: outside.exitCode, signalCode: outside.signalCode },
      { exitCode: null, signalCode: null },
    )
    assert.match(pipes, /moved out of the workspace/)
    assert.match(after, /zero/)
  })
})
