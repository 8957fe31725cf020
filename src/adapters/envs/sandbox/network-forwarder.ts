/**
 * The forwarder is a program inside a sandbox: it listens on the loopback and forwards each connection, also if it is
 * half closed, to the proxy's socket file. A command with a network starts only when the forwarder listens, so the
 * forwarder is written in Perl, which starts in a few milliseconds and is part of Debian and similar systems. If there
 * is no Perl, a slower Node program is used.
 */

import { isExecutableFile } from '../host/launcher.ts'
import type { BindMount } from './bubblewrap-command-line.ts'

/** Paths inside the sandbox. */
export const INNER_SOCKET = '/run/proxy'
export const FORWARDER_PATH = '/etc/tireless-forward'
export const FORWARDER_PORT = 3128
const INNER_NODE = '/run/node'

export interface Forwarder {
  readonly program: string
  /** Source code; the program prints a line once it listens. */
  readonly text: string
  readonly binds: readonly BindMount[]
}

/** Contract: uses `perl` if that path is a program, else Node. */
export function chooseForwarder(perl: string): Forwarder {
  if (isExecutableFile(perl)) return { program: perl, text: PERL_TEXT, binds: [] }
  return {
    program: INNER_NODE,
    text: NODE_TEXT,
    binds: [{ from: process.execPath, at: INNER_NODE, writable: false }],
  }
}

/**
 * Bash code that runs before the command: starts the forwarder and waits until it listens. The forwarder starts in a
 * subshell, so that a `wait` in the command does not wait for it.
 */
export const forwarderStartScript = (program: string): string =>
  `if [ -S ${INNER_SOCKET} ]; then ( read -r _ < <(exec ${program} ${FORWARDER_PATH} < /dev/null 2> /dev/null) ); fi\n`

const NODE_TEXT = `const { connect, createServer } = require('node:net')
const server = createServer({ allowHalfOpen: true }, (near) => {
  const far = connect({ path: '${INNER_SOCKET}', allowHalfOpen: true })
  near.on('error', () => far.destroy())
  far.on('error', () => near.destroy())
  near.pipe(far)
  far.pipe(near)
})
server.listen(${FORWARDER_PORT}, '127.0.0.1', () => console.log('listening'))
`

/**
 * Uses numbers instead of Perl modules, which take longer to load than everything else. 2 is AF_INET, 1 is AF_UNIX and
 * SOCK_STREAM, 0x40 is MSG_DONTWAIT, 4 and 11 are EINTR and EAGAIN on every Linux that Node supports.
 * A flow is one direction of a connection: source, target, bytes read but not yet sent, and whether the connection is
 * broken. A flow ends after its end of file was forwarded; Perl closes a socket when no flow refers to it.
 */
const PERL_TEXT = `$SIG{PIPE} = 'IGNORE';
my ($listener, @flows);
socket($listener, 2, 1, 0) && bind($listener, pack('S n C4 x8', 2, ${FORWARDER_PORT}, 127, 0, 0, 1)) or exit 1;
listen($listener, 511) or exit 1;
syswrite STDOUT, "listening\\n";
close STDOUT;
for (;;) {
  my ($read, $write) = ('', '');
  vec($read, fileno $listener, 1) = 1;
  for (@flows) {
    if (length $_->[2]) { vec($write, fileno $_->[1], 1) = 1 } else { vec($read, fileno $_->[0], 1) = 1 }
  }
  next if select($read, $write, undef, undef) < 1;
  my @open;
  for my $flow (@flows) {
    my ($from, $to, undef, $broken) = @$flow;
    if (length $flow->[2]) {
      if (vec($write, fileno $to, 1)) {
        my $sent = send($to, $flow->[2], 0x40);
        if (defined $sent) { substr($flow->[2], 0, $sent, '') } else { $$broken ||= $! != 4 && $! != 11 }
      }
    } elsif (vec($read, fileno $from, 1)) {
      my $got = sysread($from, $flow->[2], 65536);
      if (!defined $got) { $$broken ||= $! != 4 && $! != 11 } elsif ($got == 0) { shutdown($to, 1); next }
    }
    push @open, $flow;
  }
  @flows = grep { !\${$_->[3]} } @open;
  next unless vec($read, fileno $listener, 1);
  if (accept(my $near, $listener)) {
    my ($far, $broken);
    if (socket($far, 1, 1, 0) && connect($far, pack('S a108', 1, '${INNER_SOCKET}'))) {
      push @flows, [$near, $far, '', \\$broken], [$far, $near, '', \\$broken];
    }
  } else {
    select(undef, undef, undef, 0.01);
  }
}
`
