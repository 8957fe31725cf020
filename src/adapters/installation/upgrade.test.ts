/** Every step of an upgrade fails or is killed; after each, the selected version can open the home. */

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { freshFolder } from '../../../test/support/open-app.ts'
import { TirelessError } from '../../domain/error.ts'
import { ENTRY, MAIN, packageIn, readSelection } from './installation.ts'
import { isNewer, packageSource } from './npm-package.ts'
import type { ProgramResult, RunProgram } from './run-program.ts'
import { type UpgradeOptions, undoUpgrade, upgradeProgram } from './upgrade.ts'

const SOURCE = { spec: '/tmp/tireless-0.2.0.tgz', isFile: true }
const OLD_SCHEMA = 6
const NEW_SCHEMA = 7

type FaultKind = 'fails' | 'fails after its effect' | 'is killed' | 'is killed after its effect'
interface Fault {
  /** Which call of another program is hit. */
  readonly at: number
  readonly kind: FaultKind
}

function writePackage(folder: string, version: string): void {
  for (const file of [ENTRY, MAIN]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), '')
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'tireless', version }))
}

/** A machine whose programs are simulated: npm, systemctl and both versions. Files of the installation are real. */
class World {
  readonly root: string
  readonly home = '/a home'
  homeSchema = OLD_SCHEMA
  readonly backups = new Map<string, number>()
  readonly calls: string[] = []
  fault: Fault | undefined
  isServiceRunning = false
  isOnPostgres = false
  configFile: string | undefined
  private readonly whenKilled = Promise.withResolvers<'killed'>()

  constructor(t: TestContext) {
    this.root = join(freshFolder(t), 'tireless')
    writePackage(this.root, '0.1.0')
  }

  get versions(): string {
    return join(this.root, 'versions')
  }

  private readonly run: RunProgram = async (program, args) => {
    const fault = this.fault?.at === this.calls.length ? this.fault.kind : undefined
    const words = [program, ...args.filter((arg) => !arg.startsWith('--dis'))]
    this.calls.push(words.map((word) => word.split('/').at(-1)).join(' '))
    if (fault === 'fails') return failed('injected')
    if (fault === 'is killed') return this.die()
    const result = program === 'npm' ? this.npm(args) : this.tireless(words[1] ?? '', words.slice(2))
    if (fault === 'fails after its effect') return failed('injected')
    return fault === undefined ? result : this.die()
  }

  private die(): Promise<never> {
    this.whenKilled.resolve('killed')
    return new Promise(() => {})
  }

  private npm(args: readonly string[]): ProgramResult {
    writePackage(packageIn(args[args.indexOf('--prefix') + 1] ?? ''), '0.2.0')
    return { exit: 0, stdout: '', stderr: '' }
  }

  private tireless(entry: string, [verb = '', ...rest]: readonly string[]): ProgramResult {
    const schema = entry.startsWith(this.versions) ? NEW_SCHEMA : OLD_SCHEMA
    const home = rest[rest.indexOf('--home') + 1]
    const isReal = home === this.home
    if (verb === 'backup') {
      mkdirSync(rest[0] ?? '', { recursive: true })
      this.backups.set(rest[0] ?? '', this.homeSchema)
    }
    if (verb === 'restore' && isReal) this.homeSchema = Math.max(this.backups.get(rest[0] ?? '') ?? 0, schema)
    if (verb === 'status' && isReal) {
      if (this.homeSchema > schema) return failed('newer schema')
      this.homeSchema = schema
    }
    return { exit: 0, stdout: '', stderr: '' }
  }

  private options(): UpgradeOptions {
    const folder = readSelection(this.versions)?.folder ?? null
    const follow = async (verb: string, running: boolean): Promise<void> => {
      const result = await this.run('systemctl', [verb], { env: {} })
      if (result.exit !== 0) throw new TirelessError('conflict', `systemctl ${verb} failed`)
      this.isServiceRunning = running
    }
    return {
      installation: {
        ...{ kind: 'package', root: this.root, versions: this.versions, folder },
        version: folder === null ? '0.1.0' : '0.2.0',
      },
      ...{
        schema: folder === null ? OLD_SCHEMA : NEW_SCHEMA,
        node: 'node',
        env: {},
        home: this.home,
        signal: undefined,
      },
      ...{ configFile: this.configFile, isOnPostgres: this.isOnPostgres, run: this.run, isRestoring: () => false },
      homeSchema: () => (this.isOnPostgres ? null : this.homeSchema),
      ...{ holder: () => undefined, stamp: () => `t${this.calls.length}`, tell() {} },
      service: {
        ...{ name: '', file: '', environmentFile: '', startCommand: '', lingerCommand: () => undefined },
        install: () => Promise.reject(new Error('unused')),
        uninstall: () => Promise.reject(new Error('unused')),
        state: async () => ({ name: '', file: '', installed: true, enabled: true, running: this.isServiceRunning }),
        start: () => follow('start', true),
        stop: () => follow('stop', false),
      },
    }
  }

  private survive<T>(work: Promise<T>): Promise<T | Error | 'killed'> {
    return Promise.race([work.catch((thrown: Error) => thrown), this.whenKilled.promise])
  }

  upgrade = () => this.survive(upgradeProgram(this.options(), SOURCE, join(dirname(this.root), 'backups')))
  undo = () => this.survive(undoUpgrade(this.options()))

  selected(): string | null {
    return readSelection(this.versions)?.folder ?? null
  }

  /** What the owner needs: the selected version is complete, and can open the home. */
  assertWorks(what: string): void {
    const folder = this.selected()
    const packageFolder = folder === null ? this.root : packageIn(join(this.versions, folder))
    assert.ok(existsSync(join(packageFolder, MAIN)), `${what}: the selected version is there`)
    assert.ok((folder === null ? OLD_SCHEMA : NEW_SCHEMA) >= this.homeSchema, `${what}: it can open the home`)
  }
}

const failed = (stderr: string): ProgramResult => ({ exit: 1, stdout: '', stderr })

const KINDS: readonly FaultKind[] = ['fails', 'fails after its effect', 'is killed', 'is killed after its effect']

describe('an upgrade', () => {
  for (const [service, whose] of [
    [false, ''],
    [true, 'of a service: '],
  ] as const)
    test(`${whose}whichever call fails or is killed, a version works, and the next one`, async (t) => {
      const counted = new World(t)
      counted.isServiceRunning = service
      await counted.upgrade()
      assert.deepEqual(
        { selected: counted.selected(), homeSchema: counted.homeSchema },
        { selected: '0.2.0', homeSchema: NEW_SCHEMA },
      )
      assert.equal(counted.calls.length, service ? 7 : 5, counted.calls.join('\n'))
      for (const [at, call] of counted.calls.entries())
        for (const kind of KINDS) {
          const world = new World(t)
          world.isServiceRunning = service
          world.fault = { at, kind }
          const outcome = await world.upgrade()
          const what = `${call} ${kind}`
          assert.ok(outcome === 'killed' || outcome instanceof Error, what)
          world.assertWorks(what)
          if (outcome instanceof Error) assert.equal(world.selected(), null, `${what}: the old version is selected`)
          world.fault = undefined
          const next = new World(t)
          Object.assign(next, { root: world.root, homeSchema: world.homeSchema })
          const again = await next.upgrade()
          assert.ok(again !== 'killed' && !(again instanceof Error), `${what}: ${again}`)
          next.assertWorks(`${what}, then again`)
          assert.equal(readdirSync(next.versions).filter((name) => name.startsWith('.')).length <= 1, true)
        }
    })

  test('whichever call of --undo fails or is killed, a version works, and --undo again goes back', async (t) => {
    for (const kind of KINDS) {
      const world = new World(t)
      await world.upgrade()
      world.fault = { at: world.calls.length, kind }
      await world.undo()
      assert.match(world.calls.at(-1) ?? '', /restore/)
      world.assertWorks(`undo ${kind}`)
      const next = new World(t)
      Object.assign(next, { root: world.root, homeSchema: world.homeSchema, backups: world.backups })
      await next.undo()
      assert.deepEqual(
        { selected: next.selected(), homeSchema: next.homeSchema },
        { selected: null, homeSchema: OLD_SCHEMA },
        kind,
      )
    }
  })

  test('E15: records in PostgreSQL are backed up and tried as a copy; --undo does not replace them', async (t) => {
    const world = new World(t)
    world.isOnPostgres = true
    await world.upgrade()
    const verbs = () => world.calls.map((call) => / (backup|restore|status|schema) ?/.exec(call)?.[1] ?? 'npm')
    assert.deepEqual(verbs(), ['npm', 'backup', 'restore', 'status', 'status'])
    await world.undo()
    assert.deepEqual({ selected: world.selected(), calls: world.calls.length }, { selected: null, calls: 5 })
    // A configuration outside the home would lead the copy to the same database.
    const elsewhere = new World(t)
    Object.assign(elsewhere, { isOnPostgres: true, configFile: '/etc/tireless.yaml' })
    await elsewhere.upgrade()
    assert.equal(
      elsewhere.calls.some((call) => / restore /.test(call)),
      false,
      elsewhere.calls.join('\n'),
    )
  })

  test('a selection that cannot be written leaves the old version, and no folder of the new one', async (t) => {
    const world = new World(t)
    mkdirSync(join(world.versions, 'current.json'), { recursive: true })
    assert.ok((await world.upgrade()) instanceof Error)
    world.assertWorks('no selection')
    assert.deepEqual(readdirSync(world.versions), ['current.json'])
  })
})

test('versions are compared by number; a pre-release comes before its release', () => {
  const ordered = ['0.1.0', '0.9.9', '0.10.0', '1.0.0-beta.2', '1.0.0-beta.10', '1.0.0', '1.0.1+build']
  for (const [i, newer] of ordered.entries())
    for (const [j, older] of ordered.entries()) assert.equal(isNewer(newer, older), i > j, `${newer} ${older}`)
})

test('a version, a tag or a tarball can be named; a missing file and a strange version are refused', () => {
  assert.deepEqual(packageSource(undefined), { spec: 'tireless@latest', isFile: false })
  assert.deepEqual(packageSource('1.2.3-beta.1'), { spec: 'tireless@1.2.3-beta.1', isFile: false })
  assert.throws(() => packageSource('./none.tgz'), /there is no such tarball/)
  assert.throws(() => packageSource('1.0; rm -rf'), /neither a tarball nor a version/)
})
