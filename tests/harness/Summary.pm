# Summary.pm -- prove's harness that shows the output of failed tests and why others were skipped,
# and ends with the line "N passed, M failed, K skipped".
#
# A program that dies, or runs fewer tests than it planned, counts as one failure even where
# every test it reported passed. So does a skip that tests/harness/skips does not name, where root
# runs the tests: on a machine that has everything it would hide what it skips.
package Summary;
use strict;
use warnings;
use parent 'TAP::Harness';

my $lines_shown_max = 120;
my $hidden = 0; # skips that hide something

# prove itself does not mind skips.
END { $? ||= 1 if $hidden }

sub new {
	my $self = shift->SUPER::new(@_);
	my %output;

	$self->{skips} = [];
	$self->{failures} = [];
	$self->callback(made_parser => sub {
		my ($parser, $job) = @_;
		$parser->callback(ALL => sub { push @{ $output{ $job->[0] } }, shift->raw });
		$parser->callback(test => sub {
			my ($test) = @_;
			return unless $test->has_skip;
			push @{ $self->{skips} }, $job->[0] . ': ' . $test->explanation;
		});
	});
	$self->callback(after_test => sub {
		my ($job, $parser) = @_;
		my $lines = delete $output{ $job->[0] } // [];
		push @{ $self->{failures} }, [ $job->[0], $lines ] if $parser->has_problems;
	});
	return $self;
}

# The patterns of tests/harness/skips.
sub expected_skips {
	my @patterns;

	open(my $list, '<', "$ENV{ROOT}/tests/harness/skips") or die "tests/harness/skips: $!";
	while (<$list>) {
		s/\s*#.*//;
		chomp;
		push @patterns, qr/^$_/ if length;
	}
	return @patterns;
}

sub hides {
	my ($skip, @patterns) = @_;

	return !$ENV{MAY_SKIP} && $> == 0 && !(grep { $skip =~ $_ } @patterns) ? 1 : 0;
}

sub show_failure {
	my ($name, $lines) = @{ $_[0] };
	my $hidden = @$lines - $lines_shown_max;

	print "\n== $name\n";
	print "($hidden lines before)\n" if $hidden > 0;
	print "$_\n" for @$lines[ ($hidden > 0 ? $hidden : 0) .. $#$lines ];
}

sub summary {
	my ($self, $aggregate) = @_;
	my $skipped = $aggregate->skipped;
	my $passed = $aggregate->passed - $skipped;
	my $failed = $aggregate->failed;

	for my $parser ($aggregate->parsers) {
		$failed++ if $parser->has_problems && !$parser->failed;
	}
	$self->SUPER::summary($aggregate);
	show_failure($_) for @{ $self->{failures} };
	my @patterns = expected_skips();
	for my $skip (sort @{ $self->{skips} }) {
		my $hides = hides($skip, @patterns);

		print $hides ? "must not be skipped here" : "skipped", ": $skip\n";
		$hidden += $hides;
	}
	$failed += $hidden;
	$skipped -= $hidden;
	print "$passed passed, $failed failed", $skipped ? ", $skipped skipped" : '', "\n";
}

1;
