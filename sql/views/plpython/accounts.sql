-- What the accounts of people still hold for noisy answers, as a view, for curators.
CREATE OR REPLACE VIEW kanon.accounts (
    relation, -- The table whose people these are.
    login, -- Who asked; NULL in the row of all logins together, which can collude.
    answers, -- Blocks that cost something: answers, and failures.
    epsilon, -- Of the account: what all answers may reveal together.
    delta, -- Of the account.
    epsilon_spent, -- What these answers reveal together, at the delta of the account.
    epsilon_left, -- The difference. Losses do not simply add up: share_left says how many answers are left.
    delta_spent, -- What thresholds of keys have taken of delta.
    share_left -- What is left of the account, or of the login's part of it; a block costs per_query of it.
) AS
SELECT relation, login, answers, epsilon, delta, epsilon_spent, epsilon_left, delta_spent, share_left FROM kanon.accounts();
GRANT SELECT ON TABLE kanon.accounts TO kanon_owner, kanon_curator;
COMMENT ON VIEW kanon.accounts IS 'What noisy answers have revealed of people, and what may still be: for each login, and for all together.';
