import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { freshFolder, waitUntil } from '../../../test/support/open-app.ts'
import { launchdPlist, launchdScript, type ServiceDefinition, serviceName, systemdUnit } from './service-unit.ts'

const AWKWARD = `a 100% "quoted" $HOME it's \\n 中文 & <b>`

/** A service whose every path is awkward, and whose program records its arguments. */
function awkwardService(t: TestContext, body = '', name = AWKWARD): ServiceDefinition {
  const folder = join(freshFolder(t), name)
  mkdirSync(folder)
  const program = join(folder, 'program')
  writeFileSync(program, `#!/bin/sh\nfor word in "$@"; do printf '%s\\n' "$word" >> "$0.calls"; done\n${body}\n`)
  chmodSync(program, 0o755)
  return {
    ...{ home: join(folder, 'home'), program: [program, join(folder, 'entry')], configFile: join(folder, 'x.yaml') },
    ...{ path: `/usr/bin:/bin:${folder}`, environmentFile: join(folder, 'variables'), drainMs: 30_000 },
  }
}

const callsOf = ({ program }: ServiceDefinition): string[] =>
  readFileSync(`${program[0]}.calls`, 'utf8').trim().split('\n')

describe('the systemd unit', () => {
  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

  const verify = (t: TestContext, service: ServiceDefinition) => {
    const runtime = freshFolder(t)
    const file = join(runtime, 'tireless-test.service')
    writeFileSync(file, systemdUnit(service))
    const env = { ...process.env, HOME: runtime, XDG_RUNTIME_DIR: runtime }
    const { status, stderr } = spawnSync('systemd-analyze', ['--user', 'verify', file], { env, encoding: 'utf8' })
    return { status, stderr }
  }

  for (const name of [AWKWARD, AWKWARD.replaceAll(/["'\\]/g, ''), 'plain'])
    test(`systemd reads it without a complaint if paths contain ${name}`, (t) => {
      if (!hasSystemd) return t.skip('systemd-analyze is not installed')
      assert.deepEqual(verify(t, awkwardService(t, '', name)), { status: 0, stderr: '' })
    })

  test('systemd reads every path as it is', (t) => {
    if (!hasSystemd) return t.skip('systemd-analyze is not installed')
    const service = awkwardService(t, '', AWKWARD.replaceAll(/["'\\]/g, ''))
    rmSync(service.program[0] ?? '')
    const { stderr } = verify(t, service)
    assert.ok(stderr.includes(`Command ${service.program[0]} is not executable`), stderr)
  })

  test('it restarts after a failure, but not if another start cannot help, and stops after the drain', (t) => {
    const unit = systemdUnit(awkwardService(t))
    for (const line of ['Restart=on-failure', 'RestartPreventExitStatus=2 75', 'TimeoutStopSec=50s', 'KillMode=mixed'])
      assert.ok(unit.split('\n').includes(line), line)
    assert.match(unit, /^ExecCondition=:"\/bin\/sh" "-c" "exec \\"\$@\\"" .* "config" "check" "--home" /m)
    assert.match(unit, /^ExecStart=:".*" "start" "--home" .*100%% \\"quoted\\" \$HOME it's \\\\n 中文.*"--config" /m)
  })
})

describe('the launchd agent', () => {
  test('it is a property list that holds the words of the script', (t) => {
    const python = spawnSync('python3', ['--version']).status === 0
    if (!python) return t.skip('there is no program here that reads property lists')
    const service = awkwardService(t)
    const read = 'import json,plistlib,sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'
    const plist = launchdPlist('local.tireless', service, '/tmp/x & y.log')
    const { stdout, stderr } = spawnSync('python3', ['-c', read], { input: plist, encoding: 'utf8' })
    assert.equal(stderr, '')
    const parsed = JSON.parse(stdout)
    assert.deepEqual(parsed.ProgramArguments, ['/bin/sh', '-c', launchdScript(service)])
    assert.deepEqual(
      { RunAtLoad: parsed.RunAtLoad, KeepAlive: parsed.KeepAlive, ExitTimeOut: parsed.ExitTimeOut },
      { RunAtLoad: true, KeepAlive: { SuccessfulExit: false }, ExitTimeOut: 50 },
    )
    assert.equal(parsed.EnvironmentVariables.PATH, service.path)
  })

  for (const [exit, shown] of [
    [1, 1],
    [2, 0],
    [75, 0],
    [0, 0],
  ])
    test(`its script ends with ${shown} after exit code ${exit}: launchd starts it again only if that helps`, (t) => {
      const service = awkwardService(t, `[ "$2" = start ] && exit ${exit}; exit 0`)
      assert.equal(spawnSync('/bin/sh', ['-c', launchdScript(service)]).status, shown)
      const { program, home, configFile } = service
      const rest = ['--home', home, '--config', configFile ?? '']
      assert.deepEqual(callsOf(service), [program[1], 'config', 'check', ...rest, program[1], 'start', ...rest])
    })

  test('its script does not start a kernel with an invalid configuration', (t) => {
    const service = awkwardService(t, 'exit 1')
    assert.equal(spawnSync('/bin/sh', ['-c', launchdScript(service)]).status, 0)
    assert.ok(!callsOf(service).includes('start'))
  })

  test('its script passes the variables of the file on, and SIGTERM, and waits for the kernel to end', async (t) => {
    const body = `[ "$2" = start ] || exit 0
      trap 'sleep 0.2; echo "$KEY" > "$0.stopped"; exit 0' TERM; touch "$0.started"; while :; do sleep 0.05; done`
    const service = awkwardService(t, body)
    writeFileSync(service.environmentFile, 'KEY="of the file"\n')
    const child = spawn('/bin/sh', ['-c', launchdScript(service)], { stdio: 'ignore' })
    t.after(() => child.kill('SIGKILL'))
    await waitUntil(() => existsSync(`${service.program[0]}.started`))
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
    assert.equal(readFileSync(`${service.program[0]}.stopped`, 'utf8'), 'of the file\n')
  })
})

test('the default home has the plain name; other homes have names of their own', () => {
  assert.equal(serviceName('/h/.tireless', '/h/.tireless'), 'tireless')
  const names = ['/a/中文', '/b/中文', '/a/Work Home'].map((home) => serviceName(home, '/h/.tireless'))
  assert.match(names[2] ?? '', /^tireless-work-home-[0-9a-f]{8}$/)
  assert.equal(new Set(names).size, 3)
})
