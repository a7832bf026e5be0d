# A web app in Perl, which every machine with MariaDB has. GET /write writes a
# file into the folder LEDGER; any other page is GREETING and the path.
use strict;
use warnings;
use IO::Socket::INET;

$SIG{TERM} = sub { exit 0 };
my $listen = IO::Socket::INET->new(LocalAddr => $ENV{ADDRESS}, Listen => 64, ReuseAddr => 1)
    or die "listening on $ENV{ADDRESS}: $@\n";
while (my $client = $listen->accept) {
    my $request = <$client> // '';
    while (defined(my $line = <$client>)) { last if $line =~ /^\r?\n$/ }
    my ($path) = $request =~ m{^\S+ (\S+)};
    my $body = $ENV{GREETING} . ' ' . ($path // '');
    if (defined $path && $path =~ m{/write$}) {
        open(my $file, '>', "$ENV{LEDGER}/1.db") or $body = "cannot write: $!";
        print $file "rows" if $file;
    }
    print $client "HTTP/1.1 200 OK\r\nContent-Length: " . length($body) . "\r\nConnection: close\r\n\r\n$body";
    close $client;
}
