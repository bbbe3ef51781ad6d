-- What the accounts of people still hold for noisy answers, as a view, for curators.
CREATE OR REPLACE VIEW kanon.accounts AS
SELECT relation, login, answers, epsilon, delta, epsilon_spent, epsilon_left, delta_spent, share_left
FROM kanon.accounts();
ALTER VIEW kanon.accounts OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.accounts FROM PUBLIC;
GRANT SELECT ON TABLE kanon.accounts TO kanon_owner;
GRANT SELECT ON TABLE kanon.accounts TO kanon_curator;
COMMENT ON VIEW kanon.accounts IS
'What noisy answers have revealed of people, and what may still be: for each login, and for all together.';
COMMENT ON COLUMN kanon.accounts.relation IS 'The table whose people these are.';
COMMENT ON COLUMN kanon.accounts.login IS 'Who asked; NULL in the row of all logins together, which can collude.';
COMMENT ON COLUMN kanon.accounts.answers IS 'Blocks that cost something: answers, and failures.';
COMMENT ON COLUMN kanon.accounts.epsilon IS 'Of the account: what all answers may reveal together.';
COMMENT ON COLUMN kanon.accounts.delta IS 'Of the account.';
COMMENT ON COLUMN kanon.accounts.epsilon_spent IS 'What these answers reveal together, at the delta of the account.';
COMMENT ON COLUMN kanon.accounts.epsilon_left IS 'The difference. Losses do not simply add up: share_left says how many answers are left.';
COMMENT ON COLUMN kanon.accounts.delta_spent IS 'What thresholds of keys have taken of delta.';
COMMENT ON COLUMN kanon.accounts.share_left IS 'What is left of the account, or of the login''s part of it; a block costs per_query of it.';
