/** One attempt to escape from the sandbox: a line of shell that succeeds where the way is open. */

export interface Attempt {
  readonly name: string
  readonly command: string
  /** Who can do it outside: every user, only root, or it depends on the machine. */
  readonly outside: 'all' | 'root' | 'some'
}

export interface EscapeFacts {
  readonly base: string
  readonly home: string
  readonly outside: string
  readonly victim: number
  readonly port: number
  readonly datagrams: number
  readonly socket: string
  readonly abstract: string
  readonly shared: string
}

const attempt =
  (outside: Attempt['outside']) =>
  (name: string, command: string): Attempt => ({ name, command, outside })

export const all = attempt('all')
export const root = attempt('root')
export const some = attempt('some')

/** Makes a system call; succeeds if the kernel lets it through, even if it only rejects the arguments. */
export const systemCall = (number: number | undefined, ...args: readonly (string | number)[]): string =>
  [
    `perl -e '$! = 0; my @a = (${args.join(', ')}); my $got = syscall(${number ?? -1}, @a);`,
    `exit(($got >= 0 || ($! != 1 && $! != 38)) ? 0 : 1)'`,
  ].join(' ')
